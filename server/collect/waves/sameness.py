"""Which questions of different versions are the same one, so that their estimates may be pooled."""

import hashlib
import json

from server.study.definitions import Definition


def identities(definition: Definition) -> dict[str, str]:
    """By name, what makes each question what it is: everything that is asked of whom, but not the design.

    Who sees a question depends on an earlier one, which therefore is a part of it.
    """
    found: dict[str, str] = {}
    for question in definition.questions:
        document = {name: value for name, value in question.as_json().items() if name != "design"}
        if question.show_if is not None:
            earlier = found[question.show_if.question]
            document["show_if"] = {**document["show_if"], "question": earlier}
        written = json.dumps(document, sort_keys=True)
        found[question.name] = hashlib.sha256(written.encode()).hexdigest()
    return found
