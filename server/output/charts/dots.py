"""A hundred people as dots: dark are those of whom it is very likely, ringed those of whom it is possible."""

from server.output.charts.drawing import WIDTH, Drawing, drawing, format_xy

_ACROSS = 20
_STEP = WIDTH / _ACROSS
_LOOKS = (("sure", 7.5), ("may", 6.5), ("not", 3.0))
"""Of the dots: dark, ringed, small. Their sizes tell them apart without colour."""


def hundred_dots(title: str, sure: int, may: int, description: str) -> Drawing:
    """So many of a hundred dots dark, as many more as `may` says ringed; `description` is what they show."""
    if not (sure >= 0 and may >= 0 and sure + may <= 100):
        raise ValueError(f"sure and may must be at least 0, and at most 100 together; are {sure} and {may}")
    parts = []
    for place in range(100):
        style, radius = _LOOKS[(place >= sure) + (place >= sure + may)]
        row, column = divmod(place, _ACROSS)
        x, y = (column + 0.5) * _STEP, (row + 0.5) * _STEP
        parts.append(f'<circle class="{style}" cx="{format_xy(x)}" cy="{format_xy(y)}" r="{radius:g}"/>')
    return drawing(title, [description], parts, 100 / _ACROSS * _STEP)
