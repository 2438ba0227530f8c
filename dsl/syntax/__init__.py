"""Text to syntax tree: the grammar, the parser, and what it says of mistakes."""
