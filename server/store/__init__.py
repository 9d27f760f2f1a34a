"""Tables, sessions and migrations, and whether the database is fit for use."""
