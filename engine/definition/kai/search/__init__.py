"""How KAI looks for victims: ever larger parts of a gang, ever more victims, subsets of them by node, each tried out as a whole."""
