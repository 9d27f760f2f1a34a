"""What whoever runs the site watches it by: whether it is ready, what it counts, what it writes to its log."""
