"""A process beside the one that decides: it follows the journal, and answers what is asked of the cluster."""
