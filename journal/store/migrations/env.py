"""How alembic gets at a journal: through the connection that it is given, in the transaction that is under way there.

alembic loads this file by its path and not as a module of gpol, so it imports nothing of gpol.
"""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
context.run_migrations()
