"""What policies say that decide by passes: checked, and made into settings."""
