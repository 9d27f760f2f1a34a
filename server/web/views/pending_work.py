"""How far work has come that this browser waits for: two numbers, and nothing is changed by asking."""

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from server.web.security import signed_in
from server.web.work_progress import find_progress

blueprint = Blueprint("pending_work", __name__, url_prefix="/manage")


@blueprint.get("/progress/<name>.json")
@signed_in
def progress(name: str) -> ResponseReturnValue:
    """The parts that are done, and of how many; of none where nothing has begun, or another process does it."""
    parts = find_progress(name)
    return jsonify(done=parts.done, of=parts.of)
