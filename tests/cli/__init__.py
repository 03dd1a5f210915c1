"""Commands, exit statuses and errors."""
