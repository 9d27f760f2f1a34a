"""Prometheus metrics, on a port of their own: what `HourlyCounts` has published, and what moves with nobody.

The registry is one of our own. That of `prometheus_client` shows the process's memory, processor time and open files
to the second, which move with every respondent.
"""

import errno
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from server import __version__
from server.config import Address
from server.web.watching.hourly_counts import BOUNDS, HourlyCounts
from server.web.watching.readiness import Readiness, SitePart


class SiteMetrics(Collector):
    """What Prometheus reads.

    Attributes
    ----------
    counts : HourlyCounts
        What is published on the hour.

    Parameters
    ----------
    started : float
        When the process was, in seconds since 1970 (UTC).
    """

    def __init__(self, counts: HourlyCounts, readiness: Readiness, started: float) -> None:
        self.counts = counts
        self._readiness = readiness
        self._started = started

    def collect(self) -> Iterator[Metric]:
        """All series, in the same order whenever they are asked for."""
        yield from self._list_live()
        yield from self._list_hourly()

    def _list_live(self) -> Iterator[Metric]:
        """What no respondent moves."""
        yield InfoMetricFamily("moneda_build", "The version of Moneda", {"version": __version__})
        yield GaugeMetricFamily("moneda_start_time_seconds", "When the process was started", self._started)
        ready = GaugeMetricFamily("moneda_ready", "1 where this part is ready, else 0", labels=["part"])
        unready = self._readiness.wait_for_unready()
        for part in SitePart:
            ready.add_metric([part], part not in unready)
        yield ready

    def _list_hourly(self) -> Iterator[Metric]:
        copy = self.counts.copy
        yield GaugeMetricFamily(
            "moneda_counted_until_seconds", "The full hour as of which all the following stand", copy.at
        )
        requests = CounterMetricFamily("moneda_requests", "Requests", labels=["route", "status"])
        seconds = HistogramMetricFamily(
            "moneda_request_seconds", "Seconds until requests were answered", labels=["route", "status"]
        )
        for key, counts in copy.requests.items():
            requests.add_metric(key, sum(counts))
            bounds = [*map(str, BOUNDS), "+Inf"]
            sums = [sum(counts[: place + 1]) for place in range(len(bounds))]
            seconds.add_metric(key, list(zip(bounds, sums, strict=True)), sum_value=None)
        yield from (requests, seconds)
        groups = CounterMetricFamily("moneda_groups", "Groups that were worked on together", labels=["queue"])
        items = CounterMetricFamily("moneda_group_items", "What was in these groups", labels=["queue"])
        work = CounterMetricFamily("moneda_group_seconds", "Seconds of work on them", labels=["queue"])
        waiting = GaugeMetricFamily(
            "moneda_most_waiting", "Most that waited at once in the hour", labels=["queue"]
        )
        for name, queue in copy.queues.items():
            groups.add_metric([name], queue.groups)
            items.add_metric([name], queue.items)
            work.add_metric([name], queue.seconds)
            waiting.add_metric([name], queue.most_waiting)
        yield from (groups, items, work, waiting)
        yield CounterMetricFamily(
            "moneda_syncs", "Transactions that changed the database, each waiting for its disk", copy.syncs
        )
        sizes = GaugeMetricFamily("moneda_size_bytes", "Bytes of files, and of room on disks", labels=["of"])
        for name, size in sorted(copy.sizes.items()):
            sizes.add_metric([name], size)
        yield sizes


def open_metrics_port(address: Address, processes: int, metrics: SiteMetrics) -> None:
    """Answer at the first free port from the one that is named on: one for each process that serves.

    Raises
    ------
    OSError
        If none of as many ports as there are processes is free.
    """
    registry = CollectorRegistry()
    registry.register(metrics)
    for port in range(address.port, address.port + processes):
        try:
            start_http_server(port, address.host, registry)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or port == address.port + processes - 1:
                raise
        else:
            return
