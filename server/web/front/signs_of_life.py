"""`/health` and `/ready`: for whoever starts, watches and restarts the server. No cookie, and nothing of Flask."""

from server.web.front.messages import Scope, Send
from server.web.front.replies import Replies
from server.web.watching.readiness import Readiness

HEALTH = "/health"
READY = "/ready"


class SignsOfLife:
    """Answers whether this process is alive, and whether it can do its work."""

    def __init__(self, readiness: Readiness, replies: Replies) -> None:
        self._readiness = readiness
        self._replies = replies

    async def answer(self, scope: Scope, send: Send) -> bool:
        """Answer a GET or HEAD of one of the two addresses; whether it was one.

        200 says yes. 503 says which parts are not ready, in a word for each that tells strangers no more.
        """
        if scope["path"] == HEALTH:
            await self._replies.send_word(send, 200, "alive")
            return True
        if scope["path"] != READY:
            return False
        unready = await self._readiness.find_unready()
        if unready:
            await self._replies.send_word(send, 503, f"not ready: {', '.join(unready)}")
        else:
            await self._replies.send_word(send, 200, "ready")
        return True
