"""Who the researchers are, and who of them administers the installation."""

import unicodedata
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_, refuse, shorten_value
from server.people.tokens import now
from server.store.engines import lock_installation
from server.store.models import Researcher, SignIn, SignInLink

_LOGIN = (3, 100)
_NAME = 200


def first_researcher(session: Session) -> Researcher:
    """The researcher who installed Moneda; created when the database is new."""
    first = sa.select(Researcher).order_by(Researcher.id).limit(1)
    researcher = session.scalars(first).first()
    if researcher is None:
        lock_installation(session.connection())
        researcher = session.scalars(first).first()
    return add(session, "", administrator=True) if researcher is None else researcher


def add(session: Session, name: str, *, administrator: bool = False) -> Researcher:
    """A new researcher, without login and password yet."""
    researcher = Researcher(name=name, administrator=administrator)
    session.add(researcher)
    session.flush()
    return researcher


def list_researchers(session: Session) -> Sequence[Researcher]:
    """All researchers, in the order in which they came."""
    return session.scalars(sa.select(Researcher).order_by(Researcher.id)).all()


def with_login(session: Session, login: str) -> Researcher | None:
    """Whose login this is."""
    login = normalised_login(login)
    if not _is_login(login):
        return None
    return session.scalars(sa.select(Researcher).where(Researcher.login == login)).first()


def get_researcher(session: Session, number: str) -> Researcher:
    """A researcher by the number that forms send.

    Raises
    ------
    InputError
        404 if nobody has it.
    """
    # Ten digits would be more than the column holds.
    known = number.isascii() and number.isdigit() and len(number) < 10
    researcher = session.get(Researcher, int(number)) if known else None
    if researcher is None:
        raise refuse(404, "person", N_("is not known; it is %(value)s"), value=shorten_value(number))
    return researcher


def get_name(researcher: Researcher) -> str:
    """What others call somebody; empty for the first researcher, who has not chosen a name yet."""
    return researcher.name or researcher.login or ""


def administers(researcher: Researcher) -> bool:
    """Whether somebody may invite colleagues and help those who are locked out."""
    return researcher.administrator and researcher.disabled_on is None


def lock_administrators(session: Session) -> Sequence[Researcher]:
    """All who administer; what they change takes turns, so that rights hold and one of them is always left."""
    query = sa.select(Researcher).where(Researcher.administrator, Researcher.disabled_on.is_(None))
    locked = query.order_by(Researcher.id).with_for_update().execution_options(populate_existing=True)
    session.flush()  # reading again forgets what was not written yet
    session.expire_all()
    return session.scalars(locked).all()


def check_administrator(researcher: Researcher) -> None:
    """Refuse with 403 what only administrators do."""
    if not administers(researcher):
        raise refuse(403, "person", N_("must be an administrator for this"))


def normalised_login(text: str) -> str:
    """A login as it is kept and compared: however it is typed, it is one and the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text[:1000]).strip().casefold())


def check_login(session: Session, text: str, researcher: Researcher | None = None) -> str:
    """A login that `researcher`, or somebody new, may have.

    Raises
    ------
    InputError
        422 if it is too short, too long or has spaces; 409 if somebody else has it.
    """
    login = normalised_login(text)
    if not _is_login(login):
        low, high = _LOGIN
        template = N_("must have %(low)d to %(high)d characters and no spaces; it is %(value)s")
        raise refuse(422, "login", template, low=low, high=high, value=shorten_value(text))
    holder = with_login(session, login)
    if holder is not None and holder is not researcher:
        raise refuse(
            409, "login", N_("is taken; choose another; it is %(value)s"), value=shorten_value(login)
        )
    return login


def check_name(text: str) -> str:
    """A person's name on one line.

    Raises
    ------
    InputError
        If it is empty, too long, or holds what cannot be shown.
    """
    name = " ".join(text.split())
    if not 1 <= len(name) <= _NAME or not name.isprintable():
        template = N_("must have 1 to %(high)d characters on one line; it is %(value)s")
        raise refuse(422, "name", template, high=_NAME, value=shorten_value(text))
    return name


def disable(session: Session, researcher: Researcher) -> None:
    """Shut somebody out at once; what they own stays, and so do the roles they gave.

    Raises
    ------
    InputError
        If nobody would be left to administer.
    """
    _keep_one(session, researcher)
    researcher.disabled_on = now().date()
    for table in (SignIn, SignInLink):
        session.execute(sa.delete(table).where(table.researcher_id == researcher.id))


def enable(researcher: Researcher) -> None:
    """Let somebody sign in again."""
    researcher.disabled_on = None


def allow(session: Session, researcher: Researcher, *, administrator: bool) -> None:
    """Make somebody an administrator, or one no more.

    Raises
    ------
    InputError
        If nobody would be left to administer.
    """
    if not administrator:
        _keep_one(session, researcher)
    researcher.administrator = administrator


def _keep_one(session: Session, researcher: Researcher) -> None:
    if list(lock_administrators(session)) == [researcher]:
        raise refuse(409, "person", N_("must stay, as the only administrator; make somebody else one first"))


def _is_login(login: str) -> bool:
    low, high = _LOGIN
    return low <= len(login) <= high and login.isprintable() and not any(map(str.isspace, login))
