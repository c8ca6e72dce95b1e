/**
 * The people whose credentials began the chain that led to an event, as JSON text (docs/decisions/0110).
 *
 * Not breaking: an older program writes none; a rule that excludes the requester then excludes no one.
 */
import type { Migration } from './migration.ts'

const ADD = 'alter table event add column requesters text;'

export const requesters: Migration = { version: 15, name: 'requesters', breaking: false, sqlite: ADD, postgres: ADD }
