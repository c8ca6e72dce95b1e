/**
 * Whose credentials began the chain that an event stands in, as JSON text (docs/decisions/0110).
 *
 * Not breaking: an older program writes none, and what must exclude the requester then asks nobody.
 */
import type { Migration } from './migration.ts'

const ADD = 'alter table event add column requesters text;'

export const requesters: Migration = { version: 15, name: 'requesters', breaking: false, sqlite: ADD, postgres: ADD }
