"""The HTTP extender: what Volcano's scheduler asks gpol while it schedules, and what gpol answers."""
