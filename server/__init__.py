"""Moneda: surveys whose answers are randomised in the respondent's own browser."""

__version__ = "0.2.0.dev0"
