"""Whole tasks of users, through the installed commands."""
