"""Charts: pure functions from numbers and texts to a drawing, and to the words that tell the same.

A drawing is one <svg> element, read at one unit for a pixel. It names colours by classes only;
`PAPER_CSS` has them for paper, client/report.css for pages.
"""

from server.output.charts.axes import Axis, difference_axis, mean_axis, part_axis, share_axis
from server.output.charts.chance_bars import chance_bars
from server.output.charts.choice_rows import PlottedChoice, choices
from server.output.charts.courses import course
from server.output.charts.curves import PlottedCurve, curves
from server.output.charts.day_bars import DayBar, bars
from server.output.charts.dots import hundred_dots
from server.output.charts.drawing import PAPER_CSS, Drawing
from server.output.charts.flow_boxes import FlowStep, flow
from server.output.charts.heat_maps import heat_map
from server.output.charts.interval_plots import Label, PlottedEstimate, estimates, histogram, means
from server.output.charts.odds_bars import OddsBar, odds_bars
from server.output.charts.share_tables import TableCell, fits_columns, share_table
from server.output.charts.tree_plots import PlottedGroup, tree
