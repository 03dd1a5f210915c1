"""Tests of table files and of tablebases."""
