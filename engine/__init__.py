"""The core: the policy graph, the events, the state and the decisions. Pure: no I/O, no clock, no randomness."""
