/**
 * Outboxes in a user's own databases: the adapter for each kind of database, and the triggers that a system needs there.
 *
 * Owns the choice, as assemble.ts does for the ledger. Contains no rules.
 */
import { SystemIds } from '#adapters/system/ids.ts'
import { normalise, type SystemSource } from '#manifest/define/define.ts'
import { resolveReferences } from '#manifest/expressions/reference.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Outbox } from '#ports/outbox.ts'
import { ownEnvironment } from '#triggers/host.ts'
import { ledgerChoice } from './config.ts'

/** Opens the outbox in a user's own database. */
export const openOutbox = async (database: string): Promise<Outbox> => {
  const choice = ledgerChoice(database)
  switch (choice.kind) {
    case 'sqlite':
      return (await import('#adapters/storage/sqlite/outbox.ts')).openSqliteOutbox(choice.file)
    case 'postgres':
      return (await import('#adapters/storage/postgres/outbox.ts')).openPostgresOutbox(choice.url)
    case 'memory':
      throw new TrihandError('CONFIG_INVALID', 'memory: has no tables to watch; give a SQLite file or a postgres: URL')
  }
}

/** Creates the triggers that a system needs in the user's own databases, or removes them. Returns which. */
export const changeTables = async (
  source: SystemSource,
  action: 'install' | 'remove',
  table: string | null,
): Promise<readonly string[]> => {
  const ids = new SystemIds()
  const { watchOf } = await import('#triggers/table.ts')
  const changed: string[] = []
  for (const definition of normalise(source, (text) => ids.digest(text)).sources.values()) {
    if (definition.kind !== 'table' || (table !== null && definition.table !== table)) continue
    const outbox = await openOutbox(resolveReferences(definition.database, ownEnvironment()))
    try {
      await outbox[action](watchOf(definition, ids))
      changed.push(definition.name)
    } finally {
      await outbox.close()
    }
  }
  return changed
}
