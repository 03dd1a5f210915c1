"""Plans and builds."""
