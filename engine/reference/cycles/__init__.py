"""Deciding in cycles, as Kueue does: queues put up one workload each, which get flavors and victims from what there is at the start.

The procedure is that of Kueue's scheduler (pkg/scheduler, pkg/cache), main at ff69552e79, feature gates at their defaults.
"""
