"""The passes of KAI's cycle: allocate, consolidate, reclaim, preempt, end broken gangs."""
