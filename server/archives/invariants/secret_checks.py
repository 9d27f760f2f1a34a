"""Whether what the database has sealed can be opened."""

from collections.abc import Iterator, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.store.models import Researcher
from server.store.sealed_secrets import LostKeyError, unseal


def check_secrets(session: Session, _ids: Sequence[int]) -> Iterator[str]:
    """The key is at hand under which the secrets of researchers' apps for codes are sealed."""
    query = sa.select(Researcher.id, Researcher.totp_sealed).where(Researcher.totp_sealed.is_not(None))
    for number, sealed in session.execute(query):
        try:
            unseal(str(sealed), number)
        except LostKeyError as error:
            yield f"researcher {number}: {error}"
