/**
 * Indexes for pages that look across runs: the sessions of a tenant, what belongs to a session, and what models were paid for.
 *
 * Each is partial, so that a fact or a run that is none of these costs nothing but the question. The question about a fact must be asked
 * in these very words, or the index is not used (MODEL_CALL).
 */
import type { Migration } from './migration.ts'

/** A reply of a model, an agent's or a task's; a long one stands in a blob, and its step's name tells. */
const modelCall = (find: string): string =>
  `f.type = 'step.completed' and (${find}(f.body, '"modelUsed":"') > 0 or ${find}(f.body, '"agent/model[') > 0)`

export const MODEL_CALL = { sqlite: modelCall('instr'), postgres: modelCall('strpos') } as const

const plain = (condition: string): string => condition.replaceAll('f.', '')

export const reading: Migration = {
  version: 6,
  name: 'reading',
  breaking: false,
  sqlite: `
    create index stream_sessions on stream (tenant, key) where kind = 1;
    create index stream_of_session on stream (session, key) where session is not null;
    create index fact_model_call on fact (recorded_at, stream, seq) where ${plain(MODEL_CALL.sqlite)};
  `,
  postgres: `
    create index stream_sessions on stream (tenant, created_at, id) where kind = 1;
    create index stream_of_session on stream (session, id) where session is not null;
    create index fact_model_call on fact (recorded_at, stream, seq) where ${plain(MODEL_CALL.postgres)};
  `,
}
