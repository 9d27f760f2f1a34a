"""What the pages tell of how collecting goes, read as a person reads them."""

import re
from html import unescape

Path = tuple[str, ...]

OWN_LINK = "(own link)"
"""Those without stratum."""
_ROW = re.compile(
    r'<tr class="answer depth-(\d)">\s*<th scope="row" dir="auto">([^<]*)</th>\s*<td class="number strong"[^>]*>'
    r"(?:<abbr[^>]*>withheld</abbr>(?:&nbsp;|\s)\*|(none shown|[\d,]+))</td>(.*?)</tr>",
    re.DOTALL,
)


def read_rows(page: str) -> dict[Path, tuple[int | None, str]]:
    """The strata on the page of results: how many responses, None where they are withheld; the other cells' text."""
    _before, found, after = page.partition('<table class="estimates forest followed">')
    assert found or 'class="answer depth-' not in page, "the table of strata is called otherwise now"
    rows: dict[Path, tuple[int | None, str]] = {}
    names: Path = ()
    for depth, name, number, rest in _ROW.findall(after.partition("</table>")[0]):
        own = unescape(name) == "Without stratum"
        names = (*names[: int(depth) - 1], OWN_LINK if own else unescape(name))
        said = " ".join(unescape(re.sub(r"<[^>]*>", " ", rest)).split())
        rows[names] = (int(number.replace(",", "").replace("none shown", "0")) if number else None, said)
    return rows


def find_listed(page: str, slug: str) -> str:
    """The entry of a survey in their list."""
    (entry,) = (each for each in page.split("<li>") if f'/manage/surveys/{slug}"' in each)
    return entry


def read_listed_strata(page: str, slug: str) -> tuple[int, int, int] | None:
    """How many strata have reached their target, of how many, and how many are withheld; None where it is not told."""
    target = re.search(r"at their target: (\d+) of (\d+)(?:; withheld: (\d+))?<", find_listed(page, slug))
    return None if target is None else (int(target[1]), int(target[2]), int(target[3] or 0))


def read_listed(page: str, slug: str) -> tuple[int, str]:
    """What the list of surveys tells of one: how many responses are shown, and in which words."""
    entry = find_listed(page, slug)
    found = re.search(r'class="fine collected">(.*?)</span>', entry, re.DOTALL)
    assert found, entry
    said = " ".join(re.sub(r"<[^>]*>", " ", found[1]).split())
    number = re.match(r"[\d,]+", said)
    return (int(number[0].replace(",", "")) if number else 0), said
