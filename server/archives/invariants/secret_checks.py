"""Whether what the database has sealed can be opened."""

from collections.abc import Iterator, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.store.models import Researcher, Search, Webhook
from server.store.sealed_secrets import LostKeyError, unseal


def check_secrets(session: Session, _ids: Sequence[int]) -> Iterator[str]:
    """The key is at hand under which the secrets of apps for codes, of webhooks and of searches are sealed."""
    query = sa.select(Researcher.id, Researcher.totp_sealed).where(Researcher.totp_sealed.is_not(None))
    for number, sealed in session.execute(query):
        try:
            unseal(str(sealed), number)
        except LostKeyError as error:
            yield f"researcher {number}: {error}"
    for webhook_id, sealed in session.execute(sa.select(Webhook.id, Webhook.secret_sealed)):
        try:
            unseal(sealed, webhook_id)
        except LostKeyError as error:
            yield f"webhook {webhook_id}: {error}"
    for number, sealed in session.execute(sa.select(Search.entry_id, Search.sealed)):
        try:
            unseal(sealed, f"search-{number}")
        except LostKeyError as error:
            yield f"search {number}: {error}"
