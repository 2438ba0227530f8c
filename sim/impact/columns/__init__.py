"""A recorded history of jobs under other policies, played by a core itself and compared by columns."""
