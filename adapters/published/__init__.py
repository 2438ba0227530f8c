"""What other programs read of gpol: the form of events and of policy graphs, and policies in that form."""
