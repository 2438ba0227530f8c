"""The commands that play facts or jobs under a policy: run and simulate."""
