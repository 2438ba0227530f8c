"""What a cycle of Volcano's passes is about: its settings, and what pods, PodGroups, queues and HyperNodes are beside the session's own."""
