/**
 * On SQLite, where the replies of models stand: a row for each of them, in place of an index on every fact (docs/decisions/0081).
 *
 * The index asked each new fact for two words, from its first letter to its last, and that took longer than to write it. Whoever writes
 * the fact asks now, and far faster. An older program would write no such row, and what it paid for would not be found.
 * Postgres keeps its index: it has a quicker search, and one more table in its statement would cost more.
 */
import type { WrittenFact } from '#model/kernel/fact-codec.ts'
import { MODEL_CALL } from './0006-reading.ts'
import type { Migration } from './migration.ts'

/** The question of MODEL_CALL, to one fact in hand. */
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
