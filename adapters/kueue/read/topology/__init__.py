"""Where pods stand: topologies and nodes, what pod sets ask for, and the places that they were given."""
