"""The definition: an executable specification of every decision, in plain Python and exact numbers, written to be read."""
