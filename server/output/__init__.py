"""Documents, charts, print and numbers as people read them; nothing here knows what a survey is."""
