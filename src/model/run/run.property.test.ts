/** What holds for every run, whatever facts it has and whatever commands it is given. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fold } from '#model/kernel/machine.ts'
import { anyCommand, anyHistory, anyWalk, STEPS, type Turn, take } from '#test/support/stories/run-arbitrary.ts'
import { RETRY, TASK } from '#test/support/stories/run-story.ts'
import type { RunFact, RunState } from './fact.ts'
import { run, statusOf, wakeAt } from './run.ts'
import { isEnded } from './status.ts'

const OPTIONS = { numRuns: 1_000, seed: 7 }

const recorded = (turns: readonly Turn[]): readonly RunFact[] => turns.flatMap((turn) => turn.facts)

/** A state as plain data: versions of the maps differ in how they are stored and in nothing else. */
const plain = (state: RunState): unknown => {
  if (state.kind === 'none') return state
  if (state.kind === 'ended') return { ...state, last: plain(state.last) }
  return {
    ...state,
    open: Object.fromEntries(state.open.entries()),
    settled: Object.fromEntries(state.settled.entries()),
  }
}

const WALKS = fc.sample(anyWalk, OPTIONS)

/** The same thousand walks for every property: drawing them costs more than looking at them. A failure is drawn again, to be shrunk. */
const forEveryWalk = (check: (turns: readonly Turn[]) => void): void => {
  try {
    for (const turns of WALKS) check(turns)
  } catch (error) {
    fc.assert(fc.property(anyWalk, check), OPTIONS)
    throw error
  }
}

/** A check says whether the turn was one that it is about; it must have seen some. */
const forEveryTurn = (check: (turn: Turn) => boolean): void => {
  let seen = 0
  forEveryWalk((turns) => {
    for (const turn of turns) if (check(turn)) seen += 1
  })
  expect(seen).toBeGreaterThan(50)
}

describe('any facts in any order', () => {
  test('fold without throwing, from the beginning as from any state on the way', () => {
    fc.assert(
      fc.property(anyHistory, fc.nat(26), (history, cut) => {
        const middle = fold(run, history.slice(0, cut))
        expect(plain(fold(run, history.slice(cut), middle))).toEqual(plain(fold(run, history)))
      }),
      OPTIONS,
    )
  })

  test('leave every earlier state as it was', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const states: RunState[] = [run.initial]
        const pictures: unknown[] = [plain(run.initial)]
        for (const fact of history) {
          const next = run.evolve(states.at(-1) ?? run.initial, fact)
          states.push(next)
          pictures.push(plain(next))
        }
        expect(states.map(plain)).toEqual(pictures)
      }),
      OPTIONS,
    )
  })

  test('give a state that answers every command without throwing', () => {
    fc.assert(
      fc.property(anyHistory, anyCommand, (history, command) => {
        const state = fold(run, history)
        const { decision, after } = take(state, command)
        expect(['facts', 'refused']).toContain(decision.kind)
        if (decision.kind === 'refused') expect(after).toBe(state)
        expect(typeof (wakeAt(after) ?? 0)).toBe('number')
        expect(isEnded(statusOf(after, true))).toBe(after.kind === 'ended')
      }),
      OPTIONS,
    )
  })

  test('attempt-1: never make a step both open and settled', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const state = fold(run, history)
        const live = state.kind === 'ended' ? state.last : state
        if (live.kind === 'none') return
        expect(live.open.entries().filter(([step]) => live.settled.has(step))).toEqual([])
      }),
      OPTIONS,
    )
  })
})

describe('any commands', () => {
  test('run-1: [V5] after an end record nothing but evidence and a retry', () =>
    forEveryTurn(({ before, facts, after }) => {
      if (before.kind !== 'ended' || facts.length === 0) return false
      expect(facts.map((fact) => fact.type)).toEqual([after.kind === 'ended' ? 'step.late_result' : 'run.retried'])
      return true
    }))

  test('run-1: [V5] an end is the last fact of its turn', () => {
    const ends = ['run.completed', 'run.failed', 'run.cancelled', 'run.expired', 'run.quarantined']
    forEveryTurn(({ facts, after }) => {
      const place = facts.findIndex((fact) => ends.includes(fact.type))
      if (place < 0) return false
      expect(place).toBe(facts.length - 1)
      expect(after.kind).toBe('ended')
      return true
    })
  })

  test('run-2: [V8] after a cancel record only evidence, ends of children and the end', () => {
    const allowed = ['step.late_result', 'child.ended', 'run.cancelled', 'run.failed', 'run.quarantined']
    forEveryTurn(({ before, facts }) => {
      if (before.kind !== 'live' || before.cancel === null || facts.length === 0) return false
      for (const fact of facts) expect(allowed).toContain(fact.type)
      return true
    })
  })

  const HELD = [
    ...['step.intended', 'timer.set', 'wait.opened', 'child.started'],
    ...['run.retry_due', 'step.retry_due', 'timer.fired', 'wait.timed_out'],
  ]

  test('pause-1: while a run is paused nothing of it begins and none of its instants passes', () =>
    forEveryTurn(({ before, facts }) => {
      if (before.kind !== 'live' || before.pause === null || facts.length === 0) return false
      for (const fact of facts) expect(HELD).not.toContain(fact.type)
      return true
    }))

  test('pause-2: a pause ends by a word, a cancel or an end alone', () =>
    forEveryTurn(({ before, facts, after }) => {
      if (before.kind !== 'live' || before.pause === null || after.kind !== 'live') return false
      const isOver = facts.some(({ type }) => type === 'run.resumed')
      expect(after.pause).toBe(isOver ? null : before.pause)
      return facts.length > 0
    }))

  test('run-2: never confirm a cancel over an open child', () =>
    forEveryTurn(({ after }) => {
      if (after.kind !== 'ended' || after.last.cancel === null || after.status === 'quarantined') return false
      expect(after.last.open.some((step) => step.kind === 'calling')).toBe(false)
      return true
    }))

  test('attempt-1: [R4][V7] a step that is done or received stays so for ever', () =>
    forEveryTurn(({ before, after }) => {
      if (before.kind !== 'live' || after.kind !== 'live') return false
      const kept = before.settled.entries().filter(([, settled]) => settled.kind !== 'failed')
      for (const [step, settled] of kept) expect(after.settled.get(step)).toBe(settled)
      return kept.length > 0
    }))

  test('attempt-1: [R4][V7] a settled step is never settled again, until a person retries the run', () => {
    const settling = ['step.completed', 'step.failed', 'timer.fired', 'wait.timed_out', 'child.ended']
    forEveryTurn(({ before, facts }) => {
      if (before.kind !== 'live') return false
      const settled = facts.filter((fact) => settling.includes(fact.type) && 'step' in fact)
      for (const fact of settled) expect('step' in fact && before.settled.has(fact.step)).toBe(false)
      return settled.length > 0
    })
  })

  test('attempt-2: [R6][V10] an intended or uncertain step is intended again only after a word on it', () => {
    let intents = 0
    forEveryWalk((turns) => {
      const pending = new Set<string>()
      for (const fact of recorded(turns)) {
        if (!('step' in fact)) continue
        if (fact.type === 'step.intended') {
          expect(pending.has(fact.step)).toBe(false)
          intents += 1
        }
        if (fact.type === 'step.intended' || fact.type === 'step.uncertain') pending.add(fact.step)
        else if (fact.type !== 'step.late_result') pending.delete(fact.step)
      }
    })
    expect(intents).toBeGreaterThan(50)
  })

  test('attempt-2: [R6][V10] nothing but a word on it ends the uncertain outcome about a step', () =>
    forEveryTurn(({ before, facts, after }) => {
      if (before.kind !== 'live' || after.kind !== 'live') return false
      const doubted = before.open.entries().filter(([, open]) => open.kind === 'uncertain')
      for (const [step, open] of doubted) {
        const isResolved = facts.some((fact) => fact.type === 'step.resolved' && fact.step === step)
        // A late answer is evidence about the uncertain outcome, and asking again is a new question about it.
        if (isResolved) expect(after.open.get(step)).toBeUndefined()
        else
          expect(after.open.get(step)).toMatchObject({
            kind: 'uncertain',
            effectKey: 'effectKey' in open ? open.effectKey : '',
          })
      }
      return doubted.length > 0
    }))

  test('attempt-3: [V9] attempts grow one retry at a time and never pass the policy', () => {
    let retries = 0
    forEveryWalk((turns) => {
      const last = new Map<string, number>()
      for (const fact of recorded(turns)) {
        if (fact.type === 'run.retried') last.clear()
        if (fact.type === 'step.resolved') last.delete(fact.step)
        if (fact.type !== 'step.retry_scheduled') continue
        retries += 1
        expect(fact.attempt).toBeGreaterThan(last.get(fact.step) ?? 0)
        expect(fact.attempt).toBeLessThan(RETRY.maxAttempts)
        expect(fact.wakeAt).toBeGreaterThanOrEqual(fact.at)
        last.set(fact.step, fact.attempt)
      }
    })
    expect(retries).toBeGreaterThan(50)
  })

  test('attempt-3: [V9] failures of the handler never pass the policy', () =>
    forEveryTurn(({ after }) => {
      if (after.kind !== 'live') return false
      expect(after.failures).toBeLessThan(RETRY.maxAttempts)
      return after.failures > 0
    }))

  test('waiting-1: [R9][V24] no timer and no timeout is early', () =>
    forEveryTurn(({ before, facts }) => {
      if (before.kind !== 'live') return false
      let fired = 0
      for (const fact of facts) {
        if (fact.type !== 'timer.fired' && fact.type !== 'wait.timed_out' && fact.type !== 'step.retry_due') continue
        const open = before.open.get(fact.step)
        const due =
          open?.kind === 'waiting'
            ? open.wait.spec.timeoutAt
            : open !== undefined && 'wakeAt' in open
              ? open.wakeAt
              : null
        expect(due).not.toBeNull()
        expect(due).toBeLessThanOrEqual(fact.at)
        fired += 1
      }
      return fired > 0
    }))

  const markAllUncertain = (state: RunState, now: number): RunState =>
    state.kind === 'live' && state.cancel === null && state.pause === null
      ? STEPS.reduce(
          (one, step) => take(one, { type: 'doubt_step', now, step, reason: '', isGone: false, task: TASK }).after,
          state as RunState,
        )
      : state

  test('run-3: once time has passed, nothing that is due is left behind, and nothing wakes the run for ever', () =>
    forEveryTurn(({ after, command }) => {
      // What may be asked about is asked about in the same wake.
      const passed = markAllUncertain(take(after, { type: 'pass_time', now: command.now }).after, command.now)
      const wake = wakeAt(passed)
      const isQuiet = take(passed, { type: 'pass_time', now: command.now }).facts.length === 0
      if (!isQuiet || (wake !== null && wake <= command.now))
        expect.fail(`at ${command.now} the run still wakes at ${wake}`)
      return wake !== null
    }))

  /** Told twice it says something twice: the handler failed again, or here is the same evidence again. */
  const isNew = (fact: RunFact): boolean => fact.type !== 'step.late_result'

  test('attempt-1: waiting-2: a command given twice yields nothing or a refusal', () =>
    forEveryTurn(({ command, facts, after }) => {
      if (command.type === 'fail_run' || !facts.some(isNew)) return false
      expect(take(after, command).facts.filter(isNew)).toEqual([])
      return true
    }))
})
