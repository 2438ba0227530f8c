"""Reading a journal: selected events, the workloads they belong to, the state as of an event, snapshots."""
