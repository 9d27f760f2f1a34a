"""How many scripted responses a second one address gets stored: `make bench-flood`.

Four connections send for a few seconds what no person answered, to servers on SQLite: from an address of this machine,
which is not counted; from one of the internet, which is; and from either where work is asked for, which the script does
with hashlib in four processes. Nothing here passes or fails.
"""

import argparse
import json
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from http.client import HTTPConnection
from time import monotonic
from urllib.parse import urlsplit

from tests.benchmarks.intake import new_databases
from tests.support import factories
from tests.support.work_solver import solve

CONNECTIONS = 4
HERE, OUTSIDE = "127.0.0.1", "9.9.9.9"


def main() -> None:
    """Flood each server, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6)
    seconds = parser.parse_args().seconds
    with new_databases() as databases, ProcessPoolExecutor(CONNECTIONS) as senders:
        for switch in ("off", "always"):
            for address in (HERE, OUTSIDE):
                database_url = databases["sqlite"]()
                survey = factories.publish(database_url, factories.definition([0.25]))
                settings = {"MONEDA_PROOF_OF_WORK": switch, "MONEDA_TRUSTED_PROXIES": HERE}
                with factories.serving(database_url, **settings) as served:
                    tasks = [
                        senders.submit(_send, served.url, survey, address, switch == "always", seconds)
                        for _ in range(CONNECTIONS)
                    ]
                    found = sum((task.result() for task in tasks), Counter())
                stored = len(factories.list_responses(database_url))
                assert stored == found[201]
                whose = "counted" if address == OUTSIDE else "not counted"
                rate = stored / seconds
                print(
                    f"work {switch:<3}  {whose:<11}  {stored:6} stored, {rate:7.1f} a second; {dict(found)}"
                )


def _send(url: str, survey: factories.Published, address: str, works: bool, seconds: float) -> Counter[int]:
    """Answer as often as it goes; the statuses."""
    connection = HTTPConnection(urlsplit(url).netloc)
    headers = {"Content-Type": "application/json", "X-Forwarded-For": address}
    found: Counter[int] = Counter()
    until = monotonic() + seconds
    while monotonic() < until:
        body = survey.response()
        if works:
            body["work"] = solve(survey.slug, str(body["id"]))
        connection.request("POST", survey.url, json.dumps(body), headers)
        answer = connection.getresponse()
        answer.read()
        found[answer.status] += 1
    return found


if __name__ == "__main__":
    main()
