"""What all live systems share: facts are taken in, decided and committed, and only then does anything happen in a cluster."""
