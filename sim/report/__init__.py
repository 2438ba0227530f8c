"""Pages and words about a run or an impact."""
