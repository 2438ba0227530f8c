"""The settings of `gpol serve`: what they are, how they are read, and what is told of those that are wrong."""
