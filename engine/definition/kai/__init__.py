"""KAI (Run:ai): how its passes divide, order, place and evict."""
