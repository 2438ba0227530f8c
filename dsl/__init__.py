"""The language: text to syntax tree to checked policy to policy graph; formatter and diagnostics."""
