"""What KAI's quota tree grants: fair shares, limits, and who may take from whom (its plugin `proportion`)."""
