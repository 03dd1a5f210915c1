"""Texts of the board in English and in both Chinese scripts.

texts        messages by key; those about tables are in `texts_tables`
i18n         a message in one of three languages
names        pieces, points and endgames
words        reasons and verdicts
complaints   errors
"""
