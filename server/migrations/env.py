"""Alembic's environment: `server.db.migrate` hands in the connection."""

from alembic import context

from server.models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
context.run_migrations()
