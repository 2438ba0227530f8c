"""Where pods stand: how many fit into each domain of a topology, and which domains they fill."""
