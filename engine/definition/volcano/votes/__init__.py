"""What plugins say where passes ask them, tier by tier."""
