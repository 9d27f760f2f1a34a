"""Everything the library ships, on trial: one case or more for each mechanism and its claim.

Neighbouring inputs are chosen where the claim is tightest. The loss is computed wherever choices and noise can be
followed: mechanisms are run with noise that is dealt to them, designs for all of their coins. That the
noise itself is drawn as it is asked for is tried by running, with the operating system's source.
"""

from server.privacy.auditing.cases import Case
from server.privacy.auditing.shipped import accounting, designs, noise, queries, selection


def cases() -> list[Case]:
    """In the order of the table."""
    return [
        *designs.cases(),
        *noise.cases(),
        *selection.cases(),
        *queries.cases(),
        *accounting.cases(),
    ]
