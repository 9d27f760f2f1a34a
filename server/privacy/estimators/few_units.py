"""How far the variance between a few units can be trusted, where a coefficient hangs on some of them alone.

What is left of a unit after a fit is less than it was, the more so the more the fit goes by it: of the only school of
one side nothing is left at all. How much less on average, and how many degrees of freedom that leaves, follows from
what each unit tells of the coefficient, as if rows varied as their model says and one by one.

References
----------
Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with multi-stage
samples. *Survey Methodology* 28, 169-181.
Imbens, G. W. and Kolesár, M. (2016). Robust standard errors in small samples: some practical advice. *Review of
Economics and Statistics* 98, 701-712.
"""

from dataclasses import dataclass

import numpy as np

from server.privacy.estimators.sample_designs import Floats, Groups

_MOST = 1e6


@dataclass(frozen=True, eq=False)
class CoefficientUnits:
    """What units tell of a coefficient; several that are alike may stand once.

    Attributes
    ----------
    shares : ndarray of float, shape (u,)
        How much each adds to its variance.
    ties : ndarray of float, shape (u, q)
        By what units go together once the model is fitted: their covariance is that of `shares` alone, less
        `ties @ between @ ties.T`.
    between : ndarray of float, shape (q, q)
    strata : ndarray of int, shape (u,)
    sizes : ndarray of int, shape (strata,)
        Units of each, also of those that tell nothing.
    times : ndarray of float, shape (u,)
        How many units are alike.
    """

    shares: Floats
    ties: Floats
    between: Floats
    strata: Groups
    sizes: Groups
    times: Floats

    def judge(self) -> tuple[float, float]:
        """How many times as large as the variance between units the true one is on average; degrees of freedom."""
        sizes = self.sizes.astype(np.float64)
        alone = sizes == 1
        rest = np.where(alone, 1.0, sizes - 1)
        sums = np.stack(
            [np.bincount(self.strata, self.times * column, len(sizes)) for column in self.ties.T], axis=1
        )
        means = np.where(alone, 0.0, 1 / np.maximum(sizes, 1))[:, None] * sums
        factors = np.where(alone, 1.0, sizes / rest)
        apart = factors[self.strata, None] * (self.ties - means[self.strata])
        turned = self.between @ (self.ties.T @ (self.times[:, None] * apart))
        masses = self.times * self.shares
        total = float(masses.sum())
        left = total - float(np.trace(turned))
        if total <= 0 or left <= total / _MOST:
            return _MOST, 1 / _MOST
        own = np.bincount(self.strata, masses * self.shares, len(sizes))
        squares = np.bincount(self.strata, masses, len(sizes)) ** 2
        across = np.where(alone, 0.0, 1 / rest**2)
        spread = float((own * (1 - across) + squares * across).sum())
        spread -= 2 * float(np.trace(self.between @ ((apart * masses[:, None]).T @ apart)))
        spread += float(np.trace(turned @ turned))
        return max(total / left, 1.0), left**2 / spread if spread > 0 else 1 / _MOST
