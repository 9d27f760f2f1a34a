"""The manifest of an archive -> a checked document."""

from base64 import b64decode
from datetime import datetime
from zoneinfo import available_timezones

from server.archives.archive_reader import Archive, name_entry_in_problems
from server.archives.layout import MANIFEST, Document
from server.archives.table_reader import check_day, describe_misspelling
from server.inputs import N_, InputError, parse_json, refuse, shorten_value
from server.inputs.logos import draw_logo
from server.inputs.schema import violations
from server.store.models import State
from server.study import schedule, strata, surveys
from server.study.retention import KEPT_FIELDS, Retention, check_order
from server.study.strata.tree import same_name
from server.study.study_sheets import parse_study_sheet
from server.study.switches import SWITCHES, find_problems

_LIMIT = 8 * 1024 * 1024


def read_manifest(archive: Archive) -> Document:
    """What an archive says beside its texts, responses and invitations; a logo in it is drawn anew, and bytes.

    Raises
    ------
    InputError
        Naming the place in the manifest, and what was refused.
    """
    name = MANIFEST
    with name_entry_in_problems(name):
        document: Document = parse_json(archive.read(name, _LIMIT), _LIMIT)
        problems = violations(document, "archive")
        if problems:
            raise InputError(422, problems)
        _check_settings(document)
        _check_strata(document["strata"])
        with name_entry_in_problems("study"):
            parse_study_sheet(document.get("study", {}))
        if "logo" in document:
            document["logo"] = _read_logo(document["logo"])
        linked = list_leaf_numbers(document)
        for place, batch in enumerate(document["batches"]):
            for field in ("issued_on", "withdrawn_on"):
                if field in batch:
                    check_day(batch[field], f"batches[{place}].{field}")
            if "stratum" in batch and batch["stratum"] not in linked:
                template = N_("must be the number of a stratum with a link; it is %(value)s")
                raise refuse(422, f"batches[{place}].stratum", template, value=batch["stratum"])
    return document


def _read_logo(text: str) -> bytes:
    try:
        return draw_logo(b64decode(text, validate=True))
    except ValueError:
        raise refuse(422, "logo", N_("must be base64; it is %(value)s"), value=shorten_value(text)) from None


def list_leaf_numbers(manifest: Document) -> set[int]:
    """The numbers of the strata that have links: those without others below."""
    above = {tuple(stratum["names"][:-1]) for stratum in manifest["strata"]}
    return {
        number for number, stratum in enumerate(manifest["strata"], 1) if tuple(stratum["names"]) not in above
    }


def _check_settings(document: Document) -> None:
    slugs = [("slug", document["slug"])]
    slugs += [("link", document["link"])] if "link" in document else []
    slugs += [(f"strata[{place}].slug", stratum["slug"]) for place, stratum in enumerate(document["strata"])]
    taken: set[str] = set()
    for field, slug in slugs:
        if not surveys.is_slug(slug):
            raise describe_misspelling(field, slug, "bcdf23ghjk45")
        if slug in taken:
            raise refuse(422, field, N_("must be unique; %(value)s stands twice"), value=slug)
        taken.add(slug)
    check_day(document["created_on"], "created_on")
    for place, version in enumerate(document["versions"]):
        check_day(version["published_on"], f"versions[{place}].published_on")
        _check_periods(version, f"versions[{place}].days")
    if (document["state"] == State.DRAFT) == bool(document["versions"]):
        template = N_("must be draft without published versions, and another one with them; it is %(value)s")
        raise refuse(422, "state", template, value=document["state"])
    if document["time_zone"] not in available_timezones():
        template = N_("must be a time zone; it is %(value)s")
        raise refuse(422, "time_zone", template, value=shorten_value(document["time_zone"]))
    if document.get("cap", document["minimum"]) < document["minimum"]:
        template = N_("must be at least %(limit)s, the smallest group shown; it is %(value)s")
        raise refuse(422, "cap", template, limit=document["minimum"], value=document["cap"])
    turned = {name: name in document for name in ("by_invitation", *SWITCHES)}
    if problems := list(find_problems(turned, turned, published=False)):
        raise InputError(422, problems)
    if (
        document["state"] == State.OPEN
    ):  # a draft gets keys of its own, and once it is closed nothing is signed
        _check_keyless(document)
    check_order(Retention(*(document.get(field) for field in KEPT_FIELDS)))
    for field in ("opens_at", "closes_at", "closed_at"):
        if field in document:
            check_moment(document[field], field)
            schedule.check_moment(datetime.fromisoformat(document[field]), document["time_zone"], field)
    if "opens_at" in document and "closes_at" in document and document["opens_at"] >= document["closes_at"]:
        template = N_("must be after %(limit)s; it is %(value)s")
        raise refuse(422, "closes_at", template, limit=document["opens_at"], value=document["closes_at"])


def _check_keyless(document: Document) -> None:
    """Hold an open survey to be none that signs: an archive brings no key, and the definition names the one it had."""
    for name in ("tickets", "completions"):
        if name in document:
            template = N_(
                "must be left out of an open survey: its definition names a key, which no archive brings along"
            )
            raise refuse(422, name, template)


def _check_periods(version: Document, field: str) -> None:
    """The days of a version's responses follow each other, and are those of all of them."""
    before = ""
    for place, period in enumerate(version["days"]):
        for name in ("first", "last"):
            check_day(period[name], f"{field}[{place}].{name}")
        if not before < period["first"] <= period["last"]:
            template = N_("must be in order, none of them twice; it is %(value)s")
            raise refuse(422, f"{field}[{place}].first", template, value=period["first"])
        before = period["last"]
    if (number := sum(period["n"] for period in version["days"])) != version["responses"]:
        template = N_("must be those of %(limit)s responses; they are those of %(value)s")
        raise refuse(422, field, template, limit=version["responses"], value=number)


def _check_strata(entries: list[Document]) -> None:
    taken: set[tuple[str, ...]] = set()
    known: set[str] = set()
    above: set[tuple[str, ...]] = {()}
    for place, stratum in enumerate(entries):
        field, names = f"strata[{place}].names", tuple(stratum["names"])
        for name in names:
            with name_entry_in_problems(field):
                plain = strata.parse_name(name)
                if plain != name:
                    raise describe_misspelling("name", name, plain)
        key = tuple(map(same_name, names))
        if key in taken:
            template = N_("must be unique; %(value)s stands twice")
            raise refuse(422, field, template, value=shorten_value(" > ".join(names)))
        if names[:-1] not in above:
            raise refuse(422, field, N_("must stand after the stratum above it, which is missing"))
        if stratum["identity"] in known:  # two of them would pass for one in releases
            template = N_("must be unique; %(value)s stands twice")
            raise refuse(422, f"strata[{place}].identity", template, value=stratum["identity"])
        known.add(stratum["identity"])
        taken.add(key)
        above.add(names)


def check_moment(text: str, field: str) -> None:
    """Check a time in UTC as it is written in archives.

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is not None or time.isoformat() != text:
        raise describe_misspelling(field, text, "2026-12-31T23:59:00")
