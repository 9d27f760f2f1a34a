"""How much an explanation takes: combinations of answers and of known values, and coefficients."""

import numpy as np

from server.privacy.estimators.latent_likelihood import MOST_CELLS, LatentData

MOST_COMBINATIONS = 4096
"""Of the true answers to all predictors that were randomised."""
MOST_PARAMETERS = 80
"""Of the outcome; with those of combinations of answers where these are written out."""


def refuse_combinations(count: int) -> None:
    """Raise a ValueError where predictors have too many."""
    if count > MOST_COMBINATIONS:
        raise ValueError(
            f"predictors must have at most {MOST_COMBINATIONS:,} combinations of randomised answers; "
            f"they have {count:,}"
        )


def refuse_too_many(data: LatentData) -> None:
    """Raise a ValueError where predictors have too many combinations of answers or of known values, or coefficients."""
    refuse_combinations(len(data.dummies))
    if data.parameters > MOST_PARAMETERS:
        raise ValueError(
            f"predictors must have at most {MOST_PARAMETERS} coefficients in all; they have {data.parameters}"
        )
    if data.combined and data.values * len(data.dummies) > MOST_CELLS:
        raise ValueError(
            f"known predictors must have at most {MOST_CELLS // len(data.dummies):,} combinations of values beside "
            f"{len(data.dummies):,} of randomised answers; they have {data.values:,}"
        )


def refuse_repeated(data: LatentData) -> None:
    """Raise a ValueError where a known predictor is a combination of others."""
    lengths = np.sqrt(data.counts @ data.known**2)
    alike = (data.known * data.counts[:, None]).T @ data.known / np.outer(lengths, lengths)
    if not lengths.all() or float(np.linalg.eigvalsh(alike)[0]) < 1e-10:
        raise ValueError("predictors must not repeat each other, nor be the same for everybody")
