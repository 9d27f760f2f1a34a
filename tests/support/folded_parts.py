"""What the page of results sends only where somebody opened it."""

NAMES = ("estimates", "unweighted", "strata-table", "joint-table", "targets", "days", "checks", "odds")
"""As its address calls them, in the order of the page."""
ALL_OPEN = f"open={','.join(NAMES)}"
