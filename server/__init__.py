"""Moneda: surveys whose answers are randomised before they are sent."""

__version__ = "0.2.0.dev0"
