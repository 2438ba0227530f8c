"""How Kueue came to what it did: gpol decides on a copy of the state, along what was watched, until both agree or a difference is found."""
