"""What a core decides, as data: indices, integers and names. `gpol.engine.explain` makes events of it."""
