"""The one way in for responses, and everything that counts them."""
