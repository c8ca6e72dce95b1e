/** Which results of a run answer in another go of it, and from where on everything is done again. */
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

describe('what stands', () => {
  test('rerun-1: what had a result before the step, and nothing else', () => {
    expect(names(ABC, 'b')).toEqual([['a'], ['b', 'c']])
    expect(names(ABC, 'a')).toEqual([[], ['a', 'b', 'c']])
    expect(names(ABC, null)).toEqual([[], ['a', 'b', 'c']])
  })

  test('rerun-1: what ended while the step was under way, and nothing that was begun before and ended after it', () => {
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

  test('all results, if the step has none', () => {
    const facts = [started(), done('a'), fact('wait.opened', { step: 'wait' }), done('b')]
    expect(names(facts, 'wait')).toEqual([['a', 'b'], ['wait']])
  })

  test('a failure that the code has caught, and the result is named by its place', () => {
    const facts = [started(), fact('step.failed', { step: 'a' }), done('b')]
    expect(plan(facts, 'b')).toEqual({
      kind: 'planned',
      reused: [{ step: 'a', of: CHILD, seq: 1, settled: { kind: 'failed', error: BROKEN } }],
      again: [{ step: 'b', once: false, asks: false, reusable: false }],
      decided: [],
    })
  })

  test('after a retry of the old run: what it came to then', () => {
    const facts = [
      ...[started(), done('a'), fact('step.failed', { step: 'b' }), fact('run.failed')],
      ...[fact('run.retried'), done('c'), done('b'), done('d')],
    ]
    expect(names(facts, 'c')).toEqual([['a'], ['b', 'c', 'd']])
    expect(plan(facts, 'd')).toMatchObject({ reused: [{ seq: 1 }, { step: 'b', seq: 6 }, { step: 'c', seq: 5 }] })
  })

  test('that a step has sent events goes along', () => {
    const facts = [started(), fact('step.completed', { step: 'a', events: ['e'] }), done('b')]
    expect(plan(facts, 'b')).toMatchObject({ reused: [{ step: 'a', told: true }] })
  })
})

test('what is done again says whether it happens at most once, and whether it asks people', () => {
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

describe('what people decided', () => {
  const task = taskId('00000000-0000-7000-8000-000000000009')
  const asked = (step: string) => fact('child.started', { step, child: task })
  const answered = (step: string) => fact('child.ended', { step, child: task })
  const LINE = [started(), done('draft'), asked('ask'), done('beside'), answered('ask'), done('send'), done('file')]
  const decided = new Set(['ask'])

  test('rerun-2: with another input neither a decision nor what settled after it stands (13.1.2)', () => {
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

  test('rerun-3: done again from before their question it is asked anew; asked before that, it may be reused (13.1.2)', () => {
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

test('refused: a step that it has not come to, with the nearest, and a run at work', () => {
  expect(plan(ABC, 'bb')).toMatchObject({
    code: 'STEP_NOT_REACHED',
    detail: expect.stringContaining('did you mean b?'),
  })
  expect(plan(ABC, 'b', true)).toMatchObject({ code: 'RUN_AT_WORK' })
  expect(plan([], null)).toMatchObject({ code: 'NOT_FOUND' })
})

describe('the new run', () => {
  const settled = { kind: 'done', result: inline('ok') } as const
  const reused = { step: 'a', of: CHILD, seq: 1, settled }

  test('is born with what stands', () => {
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

  test('takes over no second result, and nothing while it is paused or after a cancel', () => {
    given(started(), done('mail')).when(command('reuse_step')).thenNothing()
    given(started(), fact('timer.set')).when(command('reuse_step')).thenNothing()
    given(started()).when(command('reuse_step')).thenFacts(fact('step.reused'))
    given(started(), fact('run.paused')).when(command('reuse_step')).thenRefused('RUN_PAUSED')
    given(started(), fact('run.cancel_requested')).when(command('reuse_step')).thenRefused('RUN_CANCELLED')
  })
})
