"""The commands that turn a journal, a policy or the objects of another system into other forms: export, import, kueue."""
