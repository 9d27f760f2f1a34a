"""The one way in for what respondents send, and everything that counts it."""
