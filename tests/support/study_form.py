"""A study sheet that states everything, as a document and as the fields of its page."""

from typing import Any


def study_document(**changes: Any) -> dict[str, Any]:
    """Every field of a sheet; texts by language in English alone."""
    return {
        "title": {"en": "Copying in exams, a national study"},
        "sponsor": "Ministry of Education",
        "funder": "Science Fund, grant 1234",
        "conductor": "Institute of Surveys",
        "population": {"en": "Students of public universities in Spain, aged 18 and over"},
        "frame": "Register of students of 2026; private universities are not in it",
        "sampling": "probability",
        "recruitment": "Two-stage sample, invited by letter,\nreminded once",
        "mode": "On the web, on their own device",
        "languages": "Spanish",
        "field_begin": "2026-03-01",
        "field_end": "2026-04-15",
        "planned_respondents": 1500,
        "planned_margin": 0.05,
        "quality": "No response was left out",
        "limitations": "Whoever left university is not reached",
        "ethics_board": "Ethics board of the university",
        "ethics_number": "CE-2026/17",
        "contact_name": "Marie Curie",
        "contact_email": "curie@example.org",
        "authors": [
            {"name": "Curie, Marie", "orcid": "0000-0002-1825-0097", "affiliation": "Sorbonne"},
            {"name": "Meitner, Lise"},
        ],
        "doi": "10.1234/moneda.5",
        "keywords": ["exams", "copying"],
        "preregistration": "https://osf.io/abcde",
        "licence": "CC-BY-4.0",
        "public": True,
        **changes,
    }
