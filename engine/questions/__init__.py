"""What can be asked of a core: what is, and what would be. The definition answers, whichever core decides."""
