"""The command impact: other policies on a recorded history."""
