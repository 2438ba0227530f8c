"""What gpol reads from and writes to the world outside: one module for each form or system."""
