"""What is guarded of a Kueue that decides by itself."""
