/** Which facts of a run produce which lifecycle events. */
import { expect, test } from 'vitest'
import { fold } from '#model/kernel/machine.ts'
import type { RunFact } from '#model/run/fact.ts'
import { run as runMachine } from '#model/run/run.ts'
import { isEmittedIfListened, LIFECYCLE, lifecycleReportOf, reportedModality, reportsWithFact } from './lifecycle.ts'

const started: RunFact = {
  ...{ type: 'run.started', at: 1_000, handler: 'work', input: { kind: 'event' }, cause: null, parentStep: null },
  ...{ depth: 0, deadlineAt: null, startBy: null },
}
const error = { code: 'FUNCTION_FAILED', message: 'broken' } as const

const told = (modality: 'agent' | 'human' | 'workflow', ...facts: readonly RunFact[]) => {
  const state = fold(runMachine, [started, ...facts])
  return facts.map((fact) => lifecycleReportOf(modality, fact, state))
}

const retried: RunFact = { type: 'run.retry_scheduled', at: 1_500, attempt: 1, error, wakeAt: 2_000 }
const due: RunFact = { type: 'run.retry_due', at: 2_000 }
const done: RunFact = { type: 'run.completed', at: 3_000, status: 'partial', output: { value: 7 } }

const DONE = { status: 'partial', result: 7, emitted_events: [], db_writes: [], duration_ms: 2_000 }

test('[D3] lifecycle-1: a retry and a later end each produce an event', () => {
  expect(told('workflow', retried, due, done)).toEqual([
    { type: 'workflow.retrying', step: null, attempt: 1, data: { error, next_at: 2_000 } },
    null,
    { type: 'workflow.completed', step: null, attempt: 2, data: DONE },
  ])
})

test("[D3] an agent's run has no event for a retry, and a person's run has no events at all", () => {
  expect(told('agent', retried)).toEqual([null])
  expect(told('agent', done)).toMatchObject([{ type: 'agent.completed' }])
  expect(told('human', retried, due, done)).toEqual([null, null, null])
})

test.each(['failed', 'expired', 'quarantined'] as const)('[D3] a run that is %s reports its error', (status) => {
  const end: RunFact = { type: `run.${status}`, at: 2_000, error }
  expect(told('agent', end)).toEqual([{ type: 'agent.failed', step: null, attempt: 1, data: { status, error } }])
})

test('[D3] a cancel does not report a failure', () =>
  expect(told('workflow', { type: 'run.cancelled', at: 2_000, error })).toEqual([null]))

test('[D3] a large output is not copied into the event', () => {
  const large: RunFact = { type: 'run.completed', at: 3_000, status: 'success', output: { blob: 'h', bytes: 70_000 } }
  expect(told('workflow', large)).toMatchObject([{ data: { result: null } }])
})

test('[D3] an event that an executor reports itself names the step that it opens, or the run', () => {
  const state = fold(runMachine, [started, retried, due])
  const telling = { type: 'agent.escalated', data: { rule: 'x' } }
  const opened = { type: 'child.started', at: 2_500, step: 'up', child: 'tsk_1' as never, handler: 'h' } as const
  expect(reportsWithFact([telling], opened, 3, state)).toEqual([{ ...telling, step: 'up', attempt: 2, index: 3 }])
  expect(reportsWithFact([telling], done, 0, state)).toEqual([{ ...telling, step: null, attempt: 2, index: 0 }])
})

test('[D3] every lifecycle event belongs to a modality, and only those of people are always emitted', () => {
  for (const [hand, names] of Object.entries(LIFECYCLE))
    for (const name of names)
      expect([reportedModality(name), isEmittedIfListened(name)]).toEqual([hand, hand !== 'human'])
  expect([
    reportedModality('order.paid'),
    isEmittedIfListened('order.paid'),
    isEmittedIfListened('trihand.run.failed'),
  ]).toEqual([null, false, true])
})
