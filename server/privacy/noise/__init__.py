"""Central noise on whole numbers: geometric, Laplace on a grid, Gaussian.

OpenDP draws every value, with exact arithmetic and the operating system's cryptographic
source; this package is the only place that calls it. Nothing here takes a seed. Floats
appear in what is computed *about* the noise (intervals, variances), never in the noise,
because the low bits of floating-point noise give the input away (Mironov 2012).

References
----------
Ghosh, A., Roughgarden, T. and Sundararajan, M. (2009). Universally utility-maximizing
privacy mechanisms. *STOC*.
Canonne, C., Kamath, G. and Steinke, T. (2020). The discrete Gaussian for differential
privacy. *NeurIPS*.
Mironov, I. (2012). On significance of the least significant bits for differential
privacy. *CCS*.
"""

from server.privacy.noise._opendp import LARGEST, LARGEST_SCALE
from server.privacy.noise.allocation import Allocation, allocate, largest_error
from server.privacy.noise.gaussian import (
    gaussian,
    gaussian_interval,
    gaussian_pmf,
    gaussian_sigma,
    gaussian_variance,
)
from server.privacy.noise.geometric import (
    geometric,
    geometric_interval,
    geometric_mean_error,
    geometric_pmf,
    geometric_variance,
)
from server.privacy.noise.laplace import (
    laplace,
    laplace_interval,
    laplace_pmf,
    laplace_sensitivity,
    laplace_shared,
    laplace_variance,
)

__all__ = [
    "LARGEST",
    "LARGEST_SCALE",
    "Allocation",
    "allocate",
    "gaussian",
    "gaussian_interval",
    "gaussian_pmf",
    "gaussian_sigma",
    "gaussian_variance",
    "geometric",
    "geometric_interval",
    "geometric_mean_error",
    "geometric_pmf",
    "geometric_variance",
    "laplace",
    "laplace_interval",
    "laplace_pmf",
    "laplace_sensitivity",
    "laplace_shared",
    "laplace_variance",
    "largest_error",
]
