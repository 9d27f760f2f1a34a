"""Pictures of the pages, for the README and the guides."""
