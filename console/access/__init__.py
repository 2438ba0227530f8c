"""Who is let in, and how a client knows whom it talks to: tokens, and the server's certificate."""
