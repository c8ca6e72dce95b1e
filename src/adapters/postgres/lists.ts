/**
 * The lists of rows that a batch of appends becomes: their names and columns.
 *
 * Owns what batch.ts fills and append-sql.ts reads. `append` is always the append's place in the batch, `ord` an event's place among
 * all events of the batch, counted from 1.
 */
import type { Columns, Row } from './columns.ts'

export const LISTS = {
  guard: {
    append: 'int',
    stream: 'uuid',
    expected: 'bigint',
    fence: 'bigint',
    added: 'int',
    to_head: 'text',
    to_status: 'text',
    to_wake_at: 'bigint',
    release: 'bool',
    seen_signal: 'bigint',
    due: 'bigint',
    newsless: 'bool',
  },
  fact: {
    append: 'int',
    stream: 'uuid',
    seq: 'bigint',
    append_id: 'text',
    epoch: 'bigint',
    type: 'text',
    recorded_at: 'bigint',
    body: 'text',
    hash: 'text',
  },
  creation: {
    append: 'int',
    id: 'uuid',
    kind: 'smallint',
    tenant: 'text',
    handler: 'text',
    system_hash: 'text',
    session: 'uuid',
    parent: 'uuid',
    event_ord: 'int',
    last_ord: 'int',
    version: 'bigint',
    epoch: 'bigint',
    head_hash: 'text',
    status: 'text',
    wake_at: 'bigint',
    lease: 'text',
    created_at: 'bigint',
    due: 'bigint',
  },
  occurrence: {
    append: 'int',
    ord: 'int',
    append_id: 'text',
    tenant: 'text',
    source: 'text',
    id: 'text',
    type: 'text',
    subject: 'text',
    time: 'bigint',
    correlation: 'text',
    causation: 'text',
    traceparent: 'text',
    hops: 'int',
    chain: 'text',
    data: 'text',
    data_hash: 'text',
  },
  suppression: { append: 'int', ord: 'int', trigger_name: 'text', reason: 'text', detail: 'text' },
  known_path: { type: 'text', path: 'text' },
  carried: { append: 'int', tenant: 'text', type: 'text', path: 'text', value: 'text', due: 'bigint' },
  signal: { append: 'int', stream: 'uuid', due: 'bigint' },
  opening: {
    append: 'int',
    stream: 'uuid',
    new_tenant: 'text',
    step: 'text',
    type: 'text',
    path: 'text',
    value: 'text',
    base: 'bigint',
    seen: 'bigint',
    is_crossed: 'bool',
  },
  closing: { append: 'int', stream: 'uuid', step: 'text' },
  document: { append: 'int', tenant: 'text', table_name: 'text', key: 'text', body: 'text' },
} as const satisfies Record<string, Columns>

export type ListName = keyof typeof LISTS
export type BatchRows = { readonly [Name in ListName]: Row<(typeof LISTS)[Name]>[] }
