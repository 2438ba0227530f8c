"""Where a journal lives: SQLite and PostgreSQL, tables and their versions."""
