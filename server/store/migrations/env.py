"""Alembic's environment: `server.store.engines.migrate` hands in the connection."""

from alembic import context

from server.store.models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
context.run_migrations()
