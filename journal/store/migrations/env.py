"""How alembic gets at a journal: through the connection that it is given, in the transaction that is under way there."""

from alembic import context
from gpol.journal.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA, transactional_ddl=True)
context.run_migrations()
