"""gpol on a cluster with Volcano: quotas are kept, or gpol decides about PodGroups."""
