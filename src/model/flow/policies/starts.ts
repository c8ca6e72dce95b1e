/**
 * Actual starts of throttled runs: a run asks for its start when it could begin, and begins only if the throttle lets it begin now. The gate's
 * `notBefore` (throttle.ts) is an estimate of that instant, made when the run was created.
 *
 * Owns the arithmetic. A start that was given and is not known to be made counts as one that is made now, whenever "now" is: so a worker that
 * stalls or dies between the two cannot make two starts coincide.
 *
 * starts-1  In any period at most limit + burst - 1 runs make their first entry, counted by cost, whatever stalled or restarted.
 * starts-2  A run that may not begin yet is given one later instant, after those of the runs that were delayed before. If starts come late, all
 *           delayed runs are given a new instant when they ask, each once, in the same order.
 */
import { type DueMap, dropDue, put, remove, valueAt } from '#model/kernel/due-map.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import { type Idle, later, latest, roundUp, type ThrottlePolicy } from './throttle.ts'

/** By run: runs that have not begun and must ask for their start. Deleted once the start is made. */
export const START_TABLE = 'trihand.start'

/** The start of a run that has not begun, as the run knows it. */
export interface StartPlace {
  readonly key: string
  readonly cost: number
  /** The run need not ask before this instant. */
  readonly at: Instant
  /** The generation of `at`, if it was given to a delayed run; null: `at` is the gate's estimate. */
  readonly generation: number | null
}

/** What counts for a key in addition to the starts that were given and not made. */
export interface Pace {
  /** When the key would be idle, after the starts that were made; null: none counts. */
  readonly idle: Idle | null
  /** When it would be idle after all runs that were given an instant; null: none was. */
  readonly tail: Idle | null
  /** Instants of an earlier generation no longer count. */
  readonly generation: number
}

interface GivenStart {
  readonly cost: number
  readonly at: Instant
}

export interface KeyStarts extends Pace {
  readonly given: DueMap<GivenStart>
  readonly givenCost: number
}

export type Starts = DueMap<KeyStarts>

type At = { readonly at: Instant; readonly key: string; readonly run: RunId }
type After = { readonly pace: Pace; readonly forgetAt: Instant }

export type StartFact =
  /** The run may begin now. */
  | (At & After & { readonly type: 'gate.start_given'; readonly cost: number })
  /** The run has begun, not after this instant. Contains the rule that was in force. */
  | (At &
      After & {
        readonly type: 'gate.start_made'
        readonly cost: number
        readonly rule: Pick<ThrottlePolicy, 'limit' | 'periodMs' | 'burst'>
      })
  /** The run asks again at this instant. */
  | (At & After & { readonly type: 'gate.start_delayed'; readonly until: Instant })

export interface StartAnswer {
  /** Null: it begins now. */
  readonly wait: { readonly until: Instant; readonly generation: number | null } | null
  readonly fact: StartFact | null
}

const NO_STARTS: KeyStarts = { idle: null, tail: null, generation: 0, given: [], givenCost: 0 }

export const startsOf = (starts: Starts, key: string): KeyStarts => valueAt(starts, key) ?? NO_STARTS

const latestOf = (a: Idle | null, b: Idle | null): Idle | null => (a === null || b === null ? (a ?? b) : latest(a, b))

const after = (pace: Pace, now: Instant, { periodMs }: ThrottlePolicy): After => {
  const last = latestOf(pace.idle, pace.tail)
  return { pace, forgetAt: (last === null ? now : Math.max(now, roundUp(last))) + periodMs }
}

/** An object, so that a simulation can replace the rule by a faulty one. */
export const startRules = {
  /** starts-1: for this request, starts that were given count as made now. */
  idleWithGiven({ idle, givenCost }: KeyStarts, now: Instant, policy: ThrottlePolicy): Idle | null {
    if (givenCost === 0) return idle
    const here = { at: now, part: 0 }
    return later(idle === null ? here : latest(idle, here), givenCost, policy)
  },
}

export const askStart = (
  starts: Starts,
  policy: ThrottlePolicy,
  { run, place, now }: { readonly run: RunId; readonly place: StartPlace; readonly now: Instant },
): StartAnswer => {
  const { key, cost, at, generation } = place
  const known = startsOf(starts, key)
  // The start was given to a worker that died before the run began.
  if (valueAt(known.given, run) !== undefined) return { wait: null, fact: null }
  // The run was woken for another reason.
  if (now < at) return { wait: { until: at, generation }, fact: null }
  const busy = startRules.idleWithGiven(known, now, policy)
  const wasTold = generation === known.generation
  const ahead = wasTold ? busy : latestOf(busy, known.tail)
  const here = { at: now, part: 0 }
  const start = ahead === null ? here : latest(here, later(ahead, cost - policy.burst, policy))
  const { idle, tail } = known
  if (roundUp(start) <= now) {
    const pace = { idle, tail, generation: known.generation }
    return { wait: null, fact: { type: 'gate.start_given', at: now, key, run, cost, ...after(pace, now, policy) } }
  }
  // starts-2: a run that comes at its instant and may not begin is late, and so are all after it.
  const next = wasTold ? known.generation + 1 : known.generation
  const pace = { idle, tail: later(ahead === null ? start : latest(start, ahead), cost, policy), generation: next }
  const until = roundUp(start)
  return {
    wait: { until, generation: next },
    fact: { type: 'gate.start_delayed', at: now, key, run, until, ...after(pace, now, policy) },
  }
}

/** The run has begun, or never will: either way its start counts from now. Null: it was given no start. */
export const makeStart = (
  starts: Starts,
  policy: ThrottlePolicy,
  { run, key, now }: { readonly run: RunId; readonly key: string; readonly now: Instant },
): StartFact | null => {
  const known = startsOf(starts, key)
  const given = valueAt(known.given, run)
  if (given === undefined) return null
  const { cost } = given
  const here = { at: now, part: 0 }
  const idle = later(known.idle === null ? here : latest(known.idle, here), cost, policy)
  const pace = { idle, tail: known.tail, generation: known.generation }
  const { limit, periodMs, burst } = policy
  const rule = { limit, periodMs, burst }
  return { type: 'gate.start_made', at: now, key, run, cost, rule, ...after(pace, now, policy) }
}

export const recordStart = (starts: Starts, fact: StartFact): Starts => {
  const { key, run, at, pace, forgetAt } = fact
  const { given, givenCost } = startsOf(starts, key)
  const before = valueAt(given, run)
  const next =
    fact.type === 'gate.start_given'
      ? { given: put(given, run, { cost: fact.cost, at }, null), givenCost: givenCost + fact.cost }
      : fact.type === 'gate.start_made' && before !== undefined
        ? { given: remove(given, run), givenCost: givenCost - before.cost }
        : { given, givenCost }
  // A key with a start in progress is never forgotten.
  const dueAt = next.givenCost > 0 ? null : forgetAt
  return put(dropDue(starts, at), key, { ...pace, ...next }, dueAt)
}
