"""Whole ways of users, each through the installed commands."""
