"""Two policies compared by what they say."""
