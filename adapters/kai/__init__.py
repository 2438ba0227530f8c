"""KAI's clusters as its own tests write them: read, decided round by round, answered in the form in which KAI was recorded."""
