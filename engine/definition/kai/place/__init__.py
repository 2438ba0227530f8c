"""Where KAI places pods: nodes one by one for a pod, domains for groups of pods, all or nothing."""
