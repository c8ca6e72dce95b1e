/** Every migration, in order. A released one never changes. */
import { ledgerTables } from './0001-ledger.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [ledgerTables]
