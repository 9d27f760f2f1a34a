"""Data from elsewhere: a table of reports on paper and its study file, as somebody sends them."""

import json
from collections.abc import Mapping
from typing import Any, Protocol

from tests.support.catalogue_words import pseudo
from tests.support.form_client import write_multipart

ADDRESS = "/manage/elsewhere"


class Sender(Protocol):
    """Who walks over the pages."""

    def get(self, path: str) -> None: ...

    def post(self, path: str, body: bytes, **headers: str) -> None: ...


def write_study(title: str = "Exams on paper", language: str = "en", **more: Any) -> bytes:
    """A question under forced response, with what is known of each person."""
    design = {"mechanism": "forced_response", "truth": 0.75, "yes": 0.125}
    questions = [
        {"name": "cheated", "kind": "yes_no", "text": pseudo("Have you ever cheated?"), "design": design},
        {
            "name": "stole",
            "kind": "yes_no",
            "text": pseudo("Stolen?"),
            "design": {"mechanism": "mangat", "truth": 0.6},
        },
    ]
    survey = {"title": title, "language": language, "questions": questions}
    covariates = [{"name": "sex", "categories": ["female", "male"]}]
    return json.dumps({"format": 1, "survey": survey, "covariates": covariates, **more}).encode()


def write_table() -> bytes:
    """Four hundred people."""
    rows = [("yes", "no", "female")] * 60 + [("no", "no", "female")] * 140
    rows += [("yes", "yes", "male")] * 110 + [("no", "yes", "male")] * 90
    return "\n".join(["cheated,stole,sex", *map(",".join, rows)]).encode() + b"\n"


FILES: Mapping[str, bytes] = {"data": write_table(), "study_file": write_study()}
"""By the fields of the form."""


def write_form(files: Mapping[str, bytes], **fields: str) -> tuple[bytes, str]:
    """The form as a browser sends it, and its type."""
    named = b'Content-Disposition: form-data; name="%b"'
    parts = [
        (named + b'; filename="%b.csv"\r\n\r\n%b') % (name.encode(), name.encode(), body)
        for name, body in files.items()
    ]
    parts += [(named + b"\r\n\r\n%b") % (name.encode(), text.encode()) for name, text in fields.items()]
    return write_multipart(*parts)


def walk_foreign_data(owner: Sender) -> None:
    """The page, the report with everything that it may say, and every kind of refusal."""
    owner.get(ADDRESS)
    study = write_study(pseudo("Paper"), "es")
    strata = [{"path": [pseudo(name)]} for name in ("A", "B")]
    table = write_table().decode().splitlines()
    placed = [
        f"{table[0]},stratum",
        *(f"{row},{pseudo('AB'[place % 2])}" for place, row in enumerate(table[1:])),
    ]
    whole = {"data": write_table(), "study_file": study}
    inside = {
        "data": "\n".join(placed).encode(),
        "study_file": write_study(pseudo("Paper"), "es", strata=strata),
    }
    halves = [{"of": ["female"], "share": 1}, {"of": ["male"], "share": 1}]
    tables = [{"question": "cheated", "by": "sex"}, {"question": "cheated", "by": "stole"}]
    drawn = {"weights": "w", "margins": [{"covariate": "sex", "groups": halves}], "clusters": "class"}
    drawn |= {"strata": "side", "population": {"0": 9, "1": 90}, "tables": tables}
    drawn |= {"replicates": {"make": "bootstrap", "count": 50}}
    classes = [
        f"{table[0]},w,class,side",
        *(f"{row},2,{place % 9},{place % 2}" for place, row in enumerate(table[1:])),
    ]
    clustered = {
        "data": "\n".join(classes).encode(),
        "study_file": write_study(pseudo("Paper"), "es", sampling=drawn),
    }
    counted = {**whole, "study_file": write_study(pseudo("Paper"), "es", sampling={"population": 9_000})}
    sent: list[tuple[Mapping[str, bytes], dict[str, str]]] = [
        (clustered, {}),
        (counted, {}),
        (whole, {"explain": "cheated", "by": "sex\nstole"}),
        (inside, {"explain": "stole", "by": "stratum"}),
        ({}, {}),
        ({"study_file": study}, {}),
        (whole, {"by": "sex"}),
        (whole, {"explain": "cheated", "by": "age"}),
        (whole, {"explain": "cheated"}),
        (whole, {"format": "doc"}),
        ({**whole, "study_file": b"{"}, {}),
        ({**whole, "study_file": b'{"format": 1}'}, {}),
        ({**whole, "data": b"cheated,stole\n"}, {}),
        ({**whole, "data": b"cheated,stole\ryes,no\r"}, {}),
        ({**whole, "data": b"PK\x03\x04"}, {}),
        ({**whole, "data": write_table() + b"perhaps,no,male\n"}, {}),
        ({**whole, "data": write_table() + b"yes\n"}, {}),
    ]
    for files, fields in sent:
        body, kind = write_form(files, **fields)
        owner.post(ADDRESS, body, Content_Type=kind)
