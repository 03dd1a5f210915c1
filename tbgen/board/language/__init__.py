"""Texts of the board in English and in both Chinese scripts.

texts.csv        messages by key, in English and simplified Chinese
i18n             a message in one of three languages
words            names of pieces, squares and endgames; Chinese reasons and verdicts;
                 tbgen/answers/reasons.csv has the reasons' sentences
error_messages   error messages; error_messages.csv has patterns and translations
"""
