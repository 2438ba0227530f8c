"""What a fact means for one workload, before anything is decided; shared by all cores."""
