"""The outermost application: asynchronous (ASGI), in front of Flask.

It reads every message whole, within a size and a time, before anything acts on it (`messages`);
takes responses by itself, in groups, without a thread for each (`intake`); serves what a
respondent's browser loads from memory (`visits`); and hands every other request to Flask in a pool
of threads (`bridge`). Whoever sends or reads slowly holds a few kilobytes here, and nobody's thread.
"""

from server.web.front.application import Front, create_front
