"""Who asks: the token of a request, and the survey that it may see."""

from flask import g, request

from server.inputs import N_, InputError, refuse
from server.people import api_tokens, survey_access
from server.people.throttling import AttemptKind
from server.store.models import ApiToken, Role, Survey
from server.study import surveys
from server.web.context import session
from server.web.security import client_address, count_failure, housekeeper, refuses

_SCHEME = "bearer"


def require_token() -> ApiToken:
    """The token that came with the request; who is behind it is then the `researcher()` of this request.

    Raises
    ------
    InputError
        401 without a valid one; 429 after too many wrong ones from the same address.
    """
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    found = None
    if scheme.lower() == _SCHEME and secret:
        found = api_tokens.find_token(session(), secret.strip())
        if found is None:
            who = client_address()
            if refuses(AttemptKind.ADDRESS, who):
                raise refuse(429, "Authorization", N_("was wrong too often; wait 10 minutes"))
            count_failure(AttemptKind.ADDRESS, who)
    if found is None:
        raise refuse(401, "Authorization", N_("must be Bearer and a valid token"))
    g.token, g.researcher = found, found.researcher
    if found.seen_on != surveys.today():
        housekeeper().note_use(found.secret_hash, api_tokens.mark_token_seen)
    return found


def find_survey(token: ApiToken, slug: str, needed: Role, *, to_change: bool) -> Survey:
    """The survey of an address, if researcher and token may do what `needed` may; locked where it is changed.

    Raises
    ------
    InputError
        404 where researcher or token do not reach it, 403 where their role does not suffice, 401 if the
        token was revoked while this waited.
    """
    known = survey_access.find(session(), slug)
    if token.survey_id is not None and (known is None or known.id != token.survey_id):
        raise refuse(404, "survey", N_("is not known; check the link"))
    survey, g.role = survey_access.find_for(session(), token.researcher, slug, needed, to_change=to_change)
    if to_change:
        token = require_token()  # it may have been revoked meanwhile
    require_role(token, needed)
    if to_change and survey.archived_on is not None:
        raise refuse(409, "survey", N_("is archived; take it out of the archive first"))
    return survey


def require_role(token: ApiToken, needed: Role) -> None:
    """Refuse what the token may not do.

    Raises
    ------
    InputError
        403.
    """
    if not Role(token.role).allows(needed):
        raise _too_little()


def require_all_surveys(token: ApiToken) -> None:
    """Refuse a token that is for one survey only.

    Raises
    ------
    InputError
        403.
    """
    if token.survey_id is not None:
        raise refuse(403, "Authorization", N_("must be a token for all surveys; this one is for one only"))


def _too_little() -> InputError:
    return refuse(403, "Authorization", N_("must be a token that may change surveys; this one may only read"))
