"""What other systems would decide, scenario by scenario."""
