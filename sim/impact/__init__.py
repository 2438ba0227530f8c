"""A recorded history under another policy."""
