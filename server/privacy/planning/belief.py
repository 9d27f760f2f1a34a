"""What a report can make an observer believe."""

import math

from server.privacy._checks import positive, probability


def belief_after_report(epsilon: float, prior: float = 0.1) -> float:
    """The most that somebody can believe of an answer once they have seen its report.

    By Bayes' rule the odds of an answer grow by the ratio of the chances of the report under that answer and
    under the others, and no ratio exceeds e**epsilon. It is reached by the report that says most, when everything
    that the observer did not believe of this answer they believed of the one that sends this report least. So it
    holds for every kind of question, for several together, and for any beliefs about the other answers.

    Parameters
    ----------
    epsilon : float
        Privacy loss in nats of what was seen: of a report, or of a respondent's whole response.
    prior : float
        What the observer believed of the answer before, in (0, 1).

    Returns
    -------
    float
        prior e**epsilon / (prior e**epsilon + 1 - prior), a probability.

    Raises
    ------
    ValueError
        If epsilon is not positive and finite, or the prior is outside (0, 1).

    References
    ----------
    Dwork and Roth (2014), section 2.3. Kasiviswanathan, S. P. and Smith, A. (2014). On the 'semantics' of
    differential privacy: a Bayesian formulation. *Journal of Privacy and Confidentiality* 6 (1).

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> round(belief_after_report(coin_flip(0.25).epsilon), 12)
    0.25
    """
    before = probability("prior", prior, open_interval=True)
    # In this form nothing overflows, however large the loss.
    return 1 / (1 + (1 - before) / before * math.exp(-positive("epsilon", epsilon)))
