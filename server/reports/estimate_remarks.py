"""What a reader must know about a question's estimates."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from server.inputs import N_
from server.privacy.estimators import AnsweredMeanEstimate, ControlItemTest, MeanEstimate

UNLIKELY = 0.05
"""A p value below it is said to hardly be chance."""


@dataclass(frozen=True)
class Remark:
    """What stands out (`lead`, `template`: messages, to be translated), with its p value where it has one."""

    lead: str
    template: str
    p_value: float | None = None


def remarks(
    impossible: Sequence[float],
    shown: int,
    p_value: float | None,
    mean: MeanEstimate | AnsweredMeanEstimate | None,
    control: ControlItemTest | None,
    *,
    several: bool,
) -> Iterator[Remark]:
    """On the impossible ones among so many shown shares, on a mean, of several parts or one, on a control question."""
    if impossible and p_value is not None:
        yield _impossible(p_value, shown, impossible[0])
    if mean is not None and mean.impossible:
        if mean.mean is None:
            yield Remark(N_("No mean."), N_("The reports do not show that anybody gave a number."))
        else:
            yield Remark(
                N_("Mean outside its range."),
                N_(
                    "No true mean lies there. With few responses chance does this: read no more into it than its "
                    "interval says."
                ),
            )
    if several and isinstance(mean, AnsweredMeanEstimate) and mean.mean is not None and mean.kind == "exact":
        yield Remark(
            N_("The interval of the mean is its whole range."),
            N_(
                "A version or a stratum that counts here has fewer than 100 responses, so that limits are exact; of a "
                "mean among those who gave a number there are none over several versions or strata but all that it "
                "could be."
            ),
        )
    if control is not None:
        yield _control(control.above, control.below)


def _impossible(p_value: float, shown: int, value: float) -> Remark:
    if p_value < UNLIKELY:
        return Remark(
            N_("Impossible share."),
            N_(
                "No true share gives these reports in expectation, and chance alone hardly explains it (%(p)s). "
                "Some respondents may not have followed the design."
            ),
            p_value,
        )
    if shown > 1:
        return Remark(
            N_("Outside 0 to 100 %%, as chance may have it."),
            N_("Possible shares fit these reports (%(p)s): read no more into one than its interval says."),
            p_value,
        )
    if value < 0:
        return Remark(
            N_("Below 0, as chance may have it."),
            N_("A true share of 0 fits these reports (%(p)s): read no more into it than the interval says."),
            p_value,
        )
    return Remark(
        N_("Above 100 %%, as chance may have it."),
        N_("A true share of 100 %% fits these reports (%(p)s): read no more into it than the interval says."),
        p_value,
    )


def _control(above: float, below: float) -> Remark:
    if above < UNLIKELY:
        return Remark(
            N_("Control question: some may have answered at random."),
            N_(
                "The sensitive answer is true of nobody here, and chance hardly explains these reports (%(p)s). "
                "Expect the same in the other questions."
            ),
            above,
        )
    if below < UNLIKELY:
        return Remark(
            N_("Control question: below 0."),
            N_(
                "Not even people who all answer truthfully give such reports, except by chance (%(p)s). "
                "Some did not come from this design."
            ),
            below,
        )
    return Remark(
        N_("Control question: nothing to see."),
        N_("A true share of 0, as it must be, fits these reports (%(p)s)."),
        min(above, below),
    )
