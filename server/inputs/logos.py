"""An uploaded picture -> a small PNG of ours: decoded, measured before it is, drawn small and written anew.

Nothing of the file itself is kept: no metadata, no second picture, no trailing bytes.
"""

import io
import warnings

import numpy as np

from server.inputs.problems import N_, InputError, refuse

PICTURE_LIMIT = 1024 * 1024
"""Largest picture that is taken, in bytes."""
PIXELS_LIMIT = 4_000_000
LOGO_SIZE = (192, 64)
"""Most pixels of a logo, across and down: twice what pages show it at."""
_FORMATS = ("PNG", "JPEG", "WEBP")
_SCANS_LIMIT = 30
"""Passes over the picture that a JPEG may ask for: each takes as long as all of a plain one."""


def draw_logo(body: bytes) -> bytes:
    """A PNG of at most `LOGO_SIZE` and 256 colours, on white: pages are light or dark, and a logo is made for paper.

    Raises
    ------
    InputError
        If this is no picture of a bounded size that can be read.
    """
    if len(body) > PICTURE_LIMIT:
        raise refuse(413, "logo", N_("must be at most %(limit)d bytes; it has more"), limit=PICTURE_LIMIT)
    if body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        template = N_(
            "must be a PNG, JPEG or WebP picture; this is an SVG or a page, which can carry more than a picture. "
            "Export it as PNG from the program that made it"
        )
        raise refuse(422, "logo", template)
    try:
        return _draw(body)
    except InputError:
        raise
    except Exception as error:  # Pillow promises no kind of error for a file that somebody has made up
        template = N_("must be a whole PNG, JPEG or WebP picture; this one cannot be read (%(value)s)")
        raise refuse(422, "logo", template, value=type(error).__name__) from None


def _draw(body: bytes) -> bytes:
    # Not at the top: accepting responses needs none of it.
    from PIL import Image, ImageOps

    too_large = refuse(413, "logo", N_("must have at most %(limit)d pixels; it has more"), limit=PIXELS_LIMIT)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns of what is refused below
            opened = Image.open(io.BytesIO(body), formats=_FORMATS)  # reads its head alone
    except Image.DecompressionBombError:
        raise too_large from None
    with opened:
        if opened.width * opened.height > PIXELS_LIMIT:
            raise too_large
        # Pillow calls a JPEG that brings further pictures by another name.
        if body.count(b"\xff\xda") > _SCANS_LIMIT and opened.format not in ("PNG", "WEBP"):
            template = N_("must be a plain JPEG; this one asks for more than %(limit)d passes")
            raise refuse(413, "logo", template, limit=_SCANS_LIMIT)
        picture = ImageOps.exif_transpose(opened).convert("RGBA")
    picture.thumbnail(LOGO_SIZE)
    paper = Image.new("RGBA", picture.size, "white")
    paper.alpha_composite(picture)
    drawn = paper.convert("RGB")
    if drawn.getcolors(256) is None:
        drawn = drawn.quantize(256).convert("RGB")
    # The very colours that are left, so that a logo stays the same however often it is moved.
    colours, places = np.unique(np.asarray(drawn).reshape(-1, 3), axis=0, return_inverse=True)
    small = Image.fromarray(places.reshape(drawn.height, drawn.width).astype(np.uint8))
    small.putpalette(colours.tobytes())
    written = io.BytesIO()
    small.save(written, "PNG", optimize=True)
    return written.getvalue()
