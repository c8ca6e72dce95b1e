/**
 * A batch of appends in one transaction, each with its own fate (ledger-2).
 *
 * The happy path pays nothing for the others: an append that does not fit is met at its first statement and has changed nothing.
 * Only one that stops in the middle, or clashes on a key, has the batch rolled back and written again with a savepoint per append.
 */
import type { Append, Outcome } from '../../ports/ledger.ts'
import { write } from './append.ts'
import type { Connection } from './connection.ts'
import { isKeyClash } from './errors.ts'
import { judge } from './judge.ts'
import type { Known } from './known.ts'
import type { Scope } from './scope.ts'
import type { Statements } from './statements.ts'

export const appendBatch = (
  connection: Connection<Statements>,
  known: Known,
  batch: readonly Append[],
): readonly Outcome[] =>
  connection.writeUnlessNull((sql) => writeTogether({ sql, known }, batch)) ??
  connection.write((sql) => batch.map((append) => writeAlone({ sql, known }, append)))

/** Null if the batch must be rolled back. */
const writeTogether = (scope: Scope, batch: readonly Append[]): readonly Outcome[] | null => {
  const outcomes: Outcome[] = []
  for (const append of batch) {
    const attempt = attemptOf(scope, append)
    if (attempt === 'partial') return null
    outcomes.push(attempt === 'clean' ? judge(scope, append) : attempt)
  }
  return outcomes
}

const writeAlone = (scope: Scope, append: Append): Outcome => {
  const { sql, known } = scope
  sql.savepoint.run()
  const attempt = attemptOf(scope, append)
  if (attempt === 'partial') {
    sql.rollBackToSavepoint.run()
    known.forget()
  }
  sql.releaseSavepoint.run()
  return attempt === 'clean' || attempt === 'partial' ? judge(scope, append) : attempt
}

const attemptOf = (scope: Scope, append: Append): ReturnType<typeof write> => {
  try {
    return write(scope, append)
  } catch (error) {
    if (isKeyClash(error)) return 'partial'
    throw error
  }
}
