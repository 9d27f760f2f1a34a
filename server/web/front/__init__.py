"""The outermost application: asynchronous (ASGI), in front of Flask.

It reads every message whole, within a size and a time, before anything acts on it (`messages`); takes what
respondents' browsers send as JSON by itself (`json_endpoints`), responses in groups, without a thread for each
(`intake`); serves what such a browser loads from memory (`visits`); and hands every other request to Flask in a pool
of threads (`bridge`). Whoever sends or reads slowly holds a few kilobytes here, and nobody's thread.

The interface is ASGI, and not RSGI, granian's own, which is a little less work. As of granian 2.8 what a slow reader
has not taken waits in memory there, however much it is; an answer that breaks off half-way ends as a whole one
does; and so does a body in chunks whose last one never came.
"""

from server.web.front.application import Front, create_front
