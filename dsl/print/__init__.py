"""From syntax tree to text: the one layout."""
