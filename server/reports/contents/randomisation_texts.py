"""How a survey's answers were randomised, in a sentence: mechanisms with their parameters and losses."""

from server.inputs import N_
from server.reports.codebook import mechanism_of
from server.reports.report_words import ReportWords
from server.reports.version_designs import VersionDesigns
from server.study.definitions import Definition, Question

_CALLED = {
    "coin_flip": N_("a coin flip"),
    "warner": N_("Warner’s design"),
    "forced_response": N_("forced response"),
    "unrelated_question": N_("the unrelated question design"),
    "kuk": N_("Kuk’s design"),
    "crosswise": N_("the crosswise design"),
    "k_ary": N_("k-ary randomised response"),
    "unary": N_("optimised unary encoding"),
    "symmetric_unary": N_("symmetric unary encoding"),
    "ordinal": N_("a design in which near answers are likelier than far ones"),
    "stochastic_rounding": N_("stochastic rounding to the lowest or highest number"),
}


def describe_randomisation(words: ReportWords, version_designs: VersionDesigns) -> str:
    """Every design once, with the names of its questions, and the loss of all together: by version, if they differ."""
    _ = words.gettext
    told = {(_list_designs(words, each), each.epsilon): each for each in version_designs.definitions.values()}
    if len(told) == 1:
        (definition,) = told.values()
        return _(
            "Each answer was randomised on the device used to answer, or by throws of their own, "
            "before it was sent (local differential "
            "privacy): %(designs)s. All questions together have ε = %(epsilon)s for one response.",
            designs=_list_designs(words, definition),
            epsilon=words.epsilon(definition.epsilon),
        )
    parts = [
        _(
            "Each answer was randomised on the device used to answer, or by throws of their own, "
            "before it was sent (local differential privacy)."
        )
    ]
    parts += [
        _(
            "Version %(version)s: %(designs)s; all questions together have ε = %(epsilon)s for one response.",
            version=number,
            designs=_list_designs(words, definition),
            epsilon=words.epsilon(definition.epsilon),
        )
        for number, definition in sorted(version_designs.definitions.items())
    ]
    return " ".join(parts)


def _list_designs(words: ReportWords, definition: Definition) -> str:
    alike: dict[str, list[str]] = {}
    for question in definition.questions:
        alike.setdefault(_design(words, question), []).append(question.name)
    return "; ".join(f"{design} ({', '.join(names)})" for design, names in alike.items())


def _design(words: ReportWords, question: Question) -> str:
    """What it is called, its parameters as they were stated, and its loss."""
    mechanism = mechanism_of(question)
    parts = [words.gettext(_CALLED[mechanism])]
    if question.encoding.several:
        parts.append(words.gettext("for each box"))
    if mechanism == "coin_flip":
        gamma = float(question.designs[0].matrix[1, 1]) - 0.5
        # Four decimals, or as many as it takes: no coin always tells the truth, and none says nothing.
        shown = next(near for decimals in range(4, 11) if 0 < (near := round(gamma, decimals)) < 0.5)
        parts.append(f"γ = {words.number(shown)}")
    else:
        named = (pair for pair in question.choice.parameters if pair[0] not in ("epsilon", "innocuous"))
        parts += [
            f"{words.macro('words/designs.html', 'parameter_name', mechanism, name)}: {words.number(value)}"
            for name, value in named
        ]
    parts.append(f"ε = {words.epsilon(question.epsilon)}")
    return ", ".join(parts)
