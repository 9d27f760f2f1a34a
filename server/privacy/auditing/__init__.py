"""Auditing: a claim of privacy is tested, not believed.

`exact_loss` is for what has finitely many outputs, or a formula for each of them; `audit`
runs anything at all on two neighbouring inputs and certifies a lower bound on its loss, `detectable` says
how large that could have been at most.
"""

from server.privacy.auditing.enumeration import exact_loss, worst_output
from server.privacy.auditing.sampled_losses import Audit, audit, detectable

__all__ = ["Audit", "audit", "detectable", "exact_loss", "worst_output"]
