/** Which results of a run are reused in its rerun, and which steps are executed again. */
import { describe, expect, test } from 'vitest'
import { taskId } from '#model/kernel/ids.ts'
import { inline } from '#model/kernel/payload.ts'
import { BROKEN, CHILD, command, fact, liveAfter, started } from '#test/support/stories/run-story.ts'
import { specify } from '#testing/spec.ts'
import type { RunFact } from './fact.ts'
import { cameBefore, planRerun, type RerunChoice } from './rerun.ts'
import { run } from './run.ts'

const { given } = specify(run)

const plan = (facts: readonly RunFact[], from: string | null, isAtWork = false, more: Partial<RerunChoice> = {}) =>
  planRerun({ id: CHILD, facts, isAtWork }, { from, isChanged: false, decided: new Set(), ...more })

const names = (facts: readonly RunFact[], from: string | null) => {
  const planned = plan(facts, from)
  if (planned.kind === 'refused') return planned.code
  return [planned.reused.map(({ step }) => step), planned.again.map(({ step }) => step)]
}

const done = (step: string): RunFact => fact('step.completed', { step })
const ABC = [started(), done('a'), done('b'), done('c'), fact('run.completed')]

describe('what is reused', () => {
  test('rerun-1: a rerun reuses the results from before its first step, and nothing else', () => {
    expect(names(ABC, 'b')).toEqual([['a'], ['b', 'c']])
    expect(names(ABC, 'a')).toEqual([[], ['a', 'b', 'c']])
    expect(names(ABC, null)).toEqual([[], ['a', 'b', 'c']])
  })

  test('rerun-1: a rerun reuses what settled while its first step was open, and not what began before it and settled after it', () => {
    const facts = [
      started(),
      fact('timer.set', { step: 'nap' }),
      fact('child.started', { step: 'call' }),
      done('beside'),
      fact('child.ended', { step: 'call' }),
      fact('timer.fired', { step: 'nap' }),
    ]
    expect(names(facts, 'call')).toEqual([['beside'], ['nap', 'call']])
  })

  test('a rerun reuses all results if its first step has none', () => {
    const facts = [started(), done('a'), fact('wait.opened', { step: 'wait' }), done('b')]
    expect(names(facts, 'wait')).toEqual([['a', 'b'], ['wait']])
  })

  test('a rerun reuses a failure that the code has caught, and names the place of each result', () => {
    const facts = [started(), fact('step.failed', { step: 'a' }), done('b')]
    expect(plan(facts, 'b')).toEqual({
      kind: 'planned',
      reused: [{ step: 'a', of: CHILD, seq: 1, settled: { kind: 'failed', error: BROKEN } }],
      again: [{ step: 'b', once: false, asks: false, reusable: false }],
      decided: [],
    })
  })

  test('a rerun of a retried run reuses the results after the retry', () => {
    const facts = [
      ...[started(), done('a'), fact('step.failed', { step: 'b' }), fact('run.failed')],
      ...[fact('run.retried'), done('c'), done('b'), done('d')],
    ]
    expect(names(facts, 'c')).toEqual([['a'], ['b', 'c', 'd']])
    expect(plan(facts, 'd')).toMatchObject({ reused: [{ seq: 1 }, { step: 'b', seq: 6 }, { step: 'c', seq: 5 }] })
  })

  test('a rerun remembers that a reused step has sent events', () => {
    const facts = [started(), fact('step.completed', { step: 'a', events: ['e'] }), done('b')]
    expect(plan(facts, 'b')).toMatchObject({ reused: [{ step: 'a', told: true }] })
  })
})

test('a step that is executed again says whether its effect is once and whether it asks people', () => {
  const facts = [
    ...[started(), fact('step.intended', { step: 'charge' }), done('charge')],
    fact('child.started', { step: 'ask', child: taskId('00000000-0000-7000-8000-000000000009') }),
  ]
  expect(plan(facts, 'charge')).toMatchObject({
    again: [
      { step: 'charge', once: true, asks: false },
      { step: 'ask', once: false, asks: true },
    ],
  })
})

describe('decisions of people in a rerun', () => {
  const task = taskId('00000000-0000-7000-8000-000000000009')
  const asked = (step: string) => fact('child.started', { step, child: task })
  const answered = (step: string) => fact('child.ended', { step, child: task })
  const LINE = [started(), done('draft'), asked('ask'), done('beside'), answered('ask'), done('send'), done('file')]
  const decided = new Set(['ask'])

  test('rerun-2: with a changed input neither decisions nor results after the first decision are reused (13.1.2)', () => {
    expect(plan(LINE, 'file', false, { decided })).toMatchObject({
      reused: [{ step: 'draft' }, { step: 'ask' }, { step: 'beside' }, { step: 'send' }],
      decided: ['ask'],
    })
    expect(plan(LINE, 'file', false, { decided, isChanged: true })).toMatchObject({
      reused: [{ step: 'draft' }, { step: 'beside' }],
      again: [{ step: 'ask', asks: true, reusable: false }, { step: 'send' }, { step: 'file' }],
      decided: [],
    })
  })

  test('rerun-3: a decision may be reused only if it was asked before the first repeated step began, with the same input (13.1.2)', () => {
    const asks = (from: string | null, isChanged = false) => {
      const planned = plan(LINE, from, false, { decided, isChanged })
      return planned.kind === 'refused' ? planned.code : planned.again.find(({ step }) => step === 'ask')?.reusable
    }
    expect([asks(null), asks('draft'), asks('ask'), asks('beside'), asks('beside', true)]).toEqual([
      ...[false, false, false],
      ...[true, false],
    ])
    expect([cameBefore(LINE, 'ask', 'beside'), cameBefore(LINE, 'ask', 'draft')]).toEqual([true, false])
    expect([cameBefore(LINE, 'none', 'draft'), cameBefore(LINE, 'ask', 'ask')]).toEqual([false, false])
  })
})

test('a rerun is refused from a step that was not reached, with the nearest name, and while the run is at work', () => {
  expect(plan(ABC, 'bb')).toMatchObject({
    code: 'STEP_NOT_REACHED',
    detail: expect.stringContaining('did you mean b?'),
  })
  expect(plan(ABC, 'b', true)).toMatchObject({ code: 'RUN_AT_WORK' })
  expect(plan([], null)).toMatchObject({ code: 'NOT_FOUND' })
})

describe('the run that a rerun starts', () => {
  const settled = { kind: 'done', result: inline('ok') } as const
  const reused = { step: 'a', of: CHILD, seq: 1, settled }

  test('a rerun begins with the reused results', () => {
    given()
      .when({ ...command('start_run'), reuse: [reused, { ...reused, step: 'b', told: true }] })
      .thenFacts(
        started(),
        fact('step.reused', { ...reused }),
        fact('step.reused', { ...reused, step: 'b', told: true }),
      )
    const live = liveAfter(started(), fact('step.reused', { ...reused, told: true }))
    expect([live.settled.get('a'), live.hasTold]).toEqual([settled, true])
  })

  test('a result is reused at most once, and never while the run is paused or after a cancel', () => {
    given(started(), done('mail')).when(command('reuse_step')).thenNothing()
    given(started(), fact('timer.set')).when(command('reuse_step')).thenNothing()
    given(started()).when(command('reuse_step')).thenFacts(fact('step.reused'))
    given(started(), fact('run.paused')).when(command('reuse_step')).thenRefused('RUN_PAUSED')
    given(started(), fact('run.cancel_requested')).when(command('reuse_step')).thenRefused('RUN_CANCELLED')
  })
})
