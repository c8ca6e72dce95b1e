/**
 * Indexes for pages across runs: the sessions of a tenant, the runs of a session, and paid model calls.
 *
 * Each index is partial, so that other facts and runs cost only the evaluation of its condition. A query on facts must repeat that
 * condition word for word, or the index is not used (MODEL_CALL).
 */
import type { Migration } from './migration.ts'

/** True for a reply of a model, in an agent or a task. A long reply is in a blob; then the name of its step decides. */
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
