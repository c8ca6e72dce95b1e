/** Facts after an end, after a cancel and before their time, each with one planted fault. */
import { expect, test } from 'vitest'
import type { Invariant } from '#cli/verify/report.ts'
import type { RunFact } from '#model/run/fact.ts'
import { aLedger, judge } from '#test/support/judged.ts'
import { aWait, fact, started } from '#test/support/stories/run-story.ts'

/** Returns the findings about a run with these facts: the broken invariant and the fact. */
const judged = async (...facts: readonly RunFact[]): Promise<readonly (readonly [Invariant, number | null])[]> => {
  const ledger = await aLedger()
  await ledger.run([started({ startBy: 15, deadlineAt: null }), ...facts], { lease: 'wrk-1', wakeAt: null })
  return (await judge(ledger)).map(({ id, seq }) => [id, seq])
}

test('[V4] facts before the start are found', async () => {
  const ledger = await aLedger()
  const stream = await ledger.run([fact('step.completed'), started()], { lease: 'wrk-1', wakeAt: null })
  expect(await judge(ledger)).toEqual([{ id: 'V4', stream, seq: 0 }])
})

test('[V4] a body that cannot be read is found, and no finding is guessed after it', async () => {
  const ledger = await aLedger()
  const stream = await ledger.run([started(), fact('step.completed'), fact('step.completed'), fact('run.completed')])
  await ledger.sql("update fact set body = '{' where seq = 1")
  expect(await judge(ledger)).toEqual([
    { id: 'V3', stream, seq: 1 },
    { id: 'V4', stream, seq: 1 },
  ])
})

test.each([`{"step":1}`, '[]', 'null', '"text"'])('[V4] %s is not the body of a step', async (body) => {
  const ledger = await aLedger()
  const stream = await ledger.run([started(), fact('step.completed'), fact('run.completed')])
  await ledger.sql(`update fact set body = '${body}' where seq = 1`)
  expect(await judge(ledger)).toContainEqual({ id: 'V4', stream, seq: 1 })
})

test('[V4] an unknown type of fact is found', async () => {
  const ledger = await aLedger()
  const stream = await ledger.run([started(), fact('step.completed'), fact('run.completed')])
  await ledger.sql("update fact set type = 'step.invented' where seq = 1")
  expect(await judge(ledger)).toContainEqual({ id: 'V4', stream, seq: 1 })
})

test.each(['run.completed', 'run.failed', 'run.cancelled', 'run.quarantined'] as const)(
  '[V5] after %s a late result is allowed as evidence, but a completed step is found',
  async (end) => {
    expect(await judged(fact(end), fact('step.late_result'), fact('step.completed'))).toEqual([['V5', 3]])
  },
)

test.each(['step.intended', 'timer.set', 'wait.opened', 'child.started'] as const)(
  '[V8] %s while the run is paused is found, and is allowed after it was resumed',
  async (type) => {
    expect(await judged(fact('run.paused'), fact(type))).toContainEqual(['V8', 2])
    expect(await judged(fact('run.paused'), fact('run.resumed'), fact(type))).not.toContainEqual(['V8', 3])
  },
)

test('[V8] a timer that fires while the run is paused is found; a step at work may complete', async () => {
  const sleeping = fact('timer.set', { wakeAt: 5 })
  expect(await judged(sleeping, fact('run.paused'), fact('timer.fired'))).toEqual([['V8', 3]])
  expect(await judged(fact('run.paused'), fact('step.completed'))).toEqual([])
})

test('[V5] a failed run may be retried and continue', async () => {
  expect(await judged(fact('run.failed'), fact('run.retried'), fact('step.completed'), fact('run.completed'))).toEqual(
    [],
  )
})

test.each([
  ['a success', [fact('run.completed'), fact('run.retried')], 2],
  ['a run that goes on', [fact('run.retried')], 1],
] as const)('[V5] a retry of %s is found', async (_, facts, seq) => {
  expect(await judged(...facts)).toEqual([['V5', seq]])
})

test('[V5] a second start of a run is found', async () => {
  expect(await judged(started())).toEqual([['V5', 1]])
})

test.each(['step.intended', 'step.completed', 'timer.set', 'wait.opened', 'child.started', 'run.completed'] as const)(
  '[V8] %s after a cancel is found',
  async (type) => {
    const verdict = await judged(fact('run.cancel_requested'), fact(type))
    expect(verdict).toContainEqual(['V8', 2])
  },
)

test('[V8] a retry clears the cancel', async () => {
  const facts = [fact('run.cancel_requested'), fact('run.cancelled'), fact('run.retried'), fact('step.completed')]
  expect(await judged(...facts)).toEqual([])
})

test.each<readonly [string, readonly RunFact[]]>([
  ['timer', [fact('timer.set', { wakeAt: 50 }), fact('timer.fired', { at: 49 })]],
  ['timeout', [fact('wait.opened', { wait: aWait({ timeoutAt: 50 }) }), fact('wait.timed_out', { at: 49 })]],
  ['retry of a step', [fact('step.retry_scheduled', { wakeAt: 50 }), fact('step.retry_due', { at: 49 })]],
  ['retry of the run', [fact('run.retry_scheduled', { wakeAt: 50 }), fact('run.retry_due', { at: 49 })]],
])('[V24] a %s that comes a millisecond early is found', async (_, facts) => {
  expect(await judged(...facts)).toEqual([['V24', 2]])
})

test('[V24] a run that expires before its start limit is found', async () => {
  expect(await judged(fact('run.expired', { at: 14 }))).toEqual([['V24', 1]])
})

test.each<readonly [string, RunFact]>([
  ['timer that was never set', fact('timer.fired')],
  ['timeout of no wait', fact('wait.timed_out')],
  ['retry that nobody scheduled', fact('step.retry_due')],
])('[V24] a %s is found', async (_, early) => {
  expect(await judged(early)).toEqual([['V24', 1]])
})
