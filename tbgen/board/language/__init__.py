"""Texts of the board in English and in both Chinese scripts.

texts.csv    messages by key, in English and simplified Chinese
i18n         a message in one of three languages
names        names of pieces, squares and endgames
words        Chinese reasons and verdicts; tbgen/answers/reasons.csv has the reasons' sentences
complaints   error messages; complaints.csv has patterns and translations
"""
