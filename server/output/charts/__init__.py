"""Charts: pure functions from numbers and texts to a drawing, and to the words that tell the same.

A drawing is one <svg> element, read at one unit for a pixel. It names colours by classes only;
`PAPER_CSS` has them for paper, client/report.css for pages.
"""

from server.output.charts.axes import Axis, mean_axis, share_axis
from server.output.charts.days import Bar, bars
from server.output.charts.drawing import PAPER_CSS, Drawing
from server.output.charts.intervals import Label, Row, estimates, histogram, means
from server.output.charts.tables import heat_map
from server.output.charts.trees import Branch, tree

__all__ = [
    "PAPER_CSS",
    "Axis",
    "Bar",
    "Branch",
    "Drawing",
    "Label",
    "Row",
    "bars",
    "estimates",
    "heat_map",
    "histogram",
    "mean_axis",
    "means",
    "share_axis",
    "tree",
]
