"""Run by Alembic: upgrades the connection that `service.store.engine.migrate` hands over, in its transaction."""

from alembic import context

from service.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
