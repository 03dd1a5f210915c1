"""Tests of commands, exit statuses and errors."""
