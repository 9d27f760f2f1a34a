"""A file that somebody hands in -> a survey: a definition in JSON, or an XLSForm workbook."""

from server.inputs.decoding import parse_json
from server.inputs.problems import N_, refuse, shorten_value
from server.output.languages import RESPONDENT_LANGUAGES
from server.study.definitions.definition_reader import DEFINITION_LIMIT, parse_definition
from server.study.xlsform import Imported, looks_like_workbook, parse_xlsform


def parse_file(name: str, body: bytes, language: str = "", fallback: str = "en") -> Imported:
    """Tell a file's kind by its first bytes, since a name can say anything, and read it.

    Parameters
    ----------
    name : str
        What the file is called, for its sender to know it again.
    body : bytes
        At most one byte more than DEFINITION_LIMIT is looked at.
    language, fallback : str
        As for `parse_xlsform`; an empty language is the file's own.

    Raises
    ------
    InputError
        If it is neither, or is refused by its parser.
    """
    if not body:
        raise refuse(422, "file", N_("must be chosen, and must not be empty"))
    if looks_like_workbook(body):
        if language not in ("", *RESPONDENT_LANGUAGES):
            template = N_("must be one of %(limit)s; it is %(value)s")
            raise refuse(
                422,
                "language",
                template,
                limit=", ".join(RESPONDENT_LANGUAGES),
                value=shorten_value(language),
            )
        return parse_xlsform(body, language or None, fallback)
    if not body.lstrip().startswith((b"{", b"[")) and not name.casefold().endswith(".json"):
        raise refuse(
            422,
            "file",
            N_("must be a survey definition (.json) or an XLSForm (.xlsx); it is %(value)s"),
            value=shorten_value(name or "?"),
        )
    return Imported(parse_definition(parse_json(body, DEFINITION_LIMIT, "file")), ())
