/** What holds for every run, with any facts and any commands. */
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

/** A state as plain data: versions of the maps differ only in how they are stored. */
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

/** The same thousand walks for every property: drawing them costs more than checking them. After a failure they are drawn again, to be shrunk. */
const forEveryWalk = (check: (turns: readonly Turn[]) => void): void => {
  try {
    for (const turns of WALKS) check(turns)
  } catch (error) {
    fc.assert(fc.property(anyWalk, check), OPTIONS)
    throw error
  }
}

/** `check` returns true for a turn that the property is about; there must be enough of those. */
const forEveryTurn = (check: (turn: Turn) => boolean): void => {
  let seen = 0
  forEveryWalk((turns) => {
    for (const turn of turns) if (check(turn)) seen += 1
  })
  expect(seen).toBeGreaterThan(50)
}

describe('any facts in any order', () => {
  test('any facts fold without throwing, from the beginning and from any state on the way', () => {
    fc.assert(
      fc.property(anyHistory, fc.nat(26), (history, cut) => {
        const middle = fold(run, history.slice(0, cut))
        expect(plain(fold(run, history.slice(cut), middle))).toEqual(plain(fold(run, history)))
      }),
      OPTIONS,
    )
  })

  test('any facts leave every earlier state unchanged', () => {
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

  test('any facts give a state that answers every command without throwing', () => {
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

  test('attempt-1: no facts make a step both open and settled', () => {
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
  test('run-1: [V5] after an end only evidence and a retry are recorded', () =>
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

  test('run-2: [V8] after a cancel only evidence, ends of children and the end are recorded', () => {
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

  test('pause-1: while a run is paused nothing in it begins, and no timer, timeout or retry is due', () =>
    forEveryTurn(({ before, facts }) => {
      if (before.kind !== 'live' || before.pause === null || facts.length === 0) return false
      for (const fact of facts) expect(HELD).not.toContain(fact.type)
      return true
    }))

  test('pause-2: a pause ends only with a resume, a cancel or an end', () =>
    forEveryTurn(({ before, facts, after }) => {
      if (before.kind !== 'live' || before.pause === null || after.kind !== 'live') return false
      const isOver = facts.some(({ type }) => type === 'run.resumed')
      expect(after.pause).toBe(isOver ? null : before.pause)
      return facts.length > 0
    }))

  test('run-2: a cancel is never confirmed while a child is open', () =>
    forEveryTurn(({ after }) => {
      if (after.kind !== 'ended' || after.last.cancel === null || after.status === 'quarantined') return false
      expect(after.last.open.some((step) => step.kind === 'calling')).toBe(false)
      return true
    }))

  test('attempt-1: [R4][V7] a step that is done or received never changes', () =>
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

  test('attempt-2: [R6][V10] an intended or uncertain step is intended again only after a decision on it', () => {
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

  test('attempt-2: [R6][V10] only a decision on it ends the uncertain outcome of a step', () =>
    forEveryTurn(({ before, facts, after }) => {
      if (before.kind !== 'live' || after.kind !== 'live') return false
      const doubted = before.open.entries().filter(([, open]) => open.kind === 'uncertain')
      for (const [step, open] of doubted) {
        const isResolved = facts.some((fact) => fact.type === 'step.resolved' && fact.step === step)
        // A late answer is evidence about the uncertain outcome, and asking again opens a new task about it.
        if (isResolved) expect(after.open.get(step)).toBeUndefined()
        else
          expect(after.open.get(step)).toMatchObject({
            kind: 'uncertain',
            effectKey: 'effectKey' in open ? open.effectKey : '',
          })
      }
      return doubted.length > 0
    }))

  test('attempt-3: [V9] attempts grow by one with each retry and never exceed the policy', () => {
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

  test('attempt-3: [V9] failures of the handler never exceed the policy', () =>
    forEveryTurn(({ after }) => {
      if (after.kind !== 'live') return false
      expect(after.failures).toBeLessThan(RETRY.maxAttempts)
      return after.failures > 0
    }))

  test('waiting-1: [R9][V24] no timer fires early and no wait times out early', () =>
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
          (one, step) => take(one, { type: 'mark_uncertain', now, step, reason: '', isGone: false, task: TASK }).after,
          state as RunState,
        )
      : state

  test('run-3: after time has passed nothing that is due is left, and the run is not woken again and again', () =>
    forEveryTurn(({ after, command }) => {
      // Everything that a task may ask about is asked in the same wake.
      const passed = markAllUncertain(take(after, { type: 'pass_time', now: command.now }).after, command.now)
      const wake = wakeAt(passed)
      const isQuiet = take(passed, { type: 'pass_time', now: command.now }).facts.length === 0
      if (!isQuiet || (wake !== null && wake <= command.now))
        expect.fail(`at ${command.now} the run still wakes at ${wake}`)
      return wake !== null
    }))

  /** Evidence may be recorded again when it is reported twice. */
  const isNew = (fact: RunFact): boolean => fact.type !== 'step.late_result'

  test('attempt-1: waiting-2: a command given twice records nothing or is refused the second time', () =>
    forEveryTurn(({ command, facts, after }) => {
      if (command.type === 'fail_run' || !facts.some(isNew)) return false
      expect(take(after, command).facts.filter(isNew)).toEqual([])
      return true
    }))
})
