"""What is asked, of whom and when, until a survey is closed."""
