/**
 * A batch of appends in one transaction, each with its own fate (ledger-2).
 *
 * The happy path pays nothing for the others: an append that does not fit is met at its first statement and has changed nothing.
 * Only one that stops in the middle, or clashes on a key, has the batch rolled back and written again with a savepoint per append.
 */
import type { Connection } from '#adapters/storage/sqlite/connection.ts'
import { isKeyClash } from '#adapters/storage/sqlite/errors.ts'
import type { Scope } from '#adapters/storage/sqlite/scope.ts'
import type { Statements } from '#adapters/storage/sqlite/statements.ts'
import { appendOf, type Step } from '#adapters/storage/sqlite/thread/packed-step.ts'
import type { Append, Outcome } from '#ports/ledger.ts'
import { type Attempt, write } from './append.ts'
import { judge } from './diagnose-conflict.ts'
import { FactRows } from './facts.ts'
import type { Known } from './row-cache.ts'

export const appendBatch = (
  connection: Connection<Statements>,
  known: Known,
  batch: readonly (Append | Step)[],
): readonly Outcome[] =>
  connection.writeUnlessNull((sql) => writeTogether({ sql, known, facts: new FactRows(sql) }, batch)) ??
  connection.write((sql) => batch.map((entry) => writeAlone({ sql, known, facts: new FactRows(sql) }, appendOf(entry))))

/** Null if the batch must be rolled back. */
const writeTogether = (scope: Scope, batch: readonly (Append | Step)[]): readonly Outcome[] | null => {
  const outcomes: Outcome[] = []
  for (const entry of batch) {
    const attempt = attemptOf(scope, entry)
    if (attempt === 'partial') return null
    outcomes.push(attempt === 'clean' ? judge(scope, appendOf(entry)) : attempt)
  }
  return unlessClash(() => scope.facts.flush()) === 'clash' ? null : outcomes
}

const writeAlone = (scope: Scope, append: Append): Outcome => {
  const { sql, known, facts } = scope
  sql.savepoint.run()
  const attempt = attemptAlone(scope, append)
  if (attempt === 'partial') {
    sql.rollBackToSavepoint.run()
    facts.discard()
    known.forget()
  }
  sql.releaseSavepoint.run()
  return attempt === 'clean' || attempt === 'partial' ? judge(scope, append) : attempt
}

const attemptOf = (scope: Scope, entry: Append | Step): Attempt => {
  const attempt = unlessClash(() => write(scope, entry))
  return attempt === 'clash' ? 'partial' : attempt
}

/** With every fact in the table: a clash is this append's own. */
const attemptAlone = (scope: Scope, append: Append): Attempt => {
  const attempt = attemptOf(scope, append)
  return unlessClash(() => scope.facts.flush()) === 'clash' ? 'partial' : attempt
}

const unlessClash = <Result>(work: () => Result): Result | 'clash' => {
  try {
    return work()
  } catch (error) {
    if (isKeyClash(error)) return 'clash'
    throw error
  }
}
