"""Outside forms and systems: one module or folder for each."""
