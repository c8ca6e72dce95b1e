/**
 * A table on SQLite that lists the facts with replies of models, in place of an index on facts (docs/decisions/0081).
 *
 * For the index, SQLite searched each new fact for two texts from start to end, which took longer than to write the fact. Now the writer
 * of the fact does this check, much faster. An older program would not write such rows, and its model calls would not be found.
 * Postgres keeps its index: its search is faster, and one more table in its statement would cost more.
 */
import type { WrittenFact } from '#model/kernel/fact-codec.ts'
import { MODEL_CALL } from './0006-reading.ts'
import type { Migration } from './migration.ts'

/** The condition of MODEL_CALL, for a fact in memory. */
export const isModelCall = ({ type, body }: Pick<WrittenFact, 'type' | 'body'>): boolean =>
  type === 'step.completed' && (body.includes('"modelUsed":"') || body.includes('"agent/model['))

export const modelCalls: Migration = {
  version: 11,
  name: 'model-calls',
  breaking: true,
  sqlite: `
    create table model_call (
      recorded_at integer not null,
      stream integer not null,
      seq integer not null,
      primary key (recorded_at, stream, seq)
    ) without rowid;
    insert into model_call select f.recorded_at, f.stream, f.seq from fact f where ${MODEL_CALL.sqlite};
    drop index fact_model_call;
  `,
  postgres: '',
}
