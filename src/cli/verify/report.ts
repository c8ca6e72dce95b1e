/**
 * The findings of a check: how often each invariant was checked, and every place where it did not hold.
 *
 * Owns the list of invariants and the limit on listed violations. Never decides whether an invariant holds.
 *
 * report-1  Every violation is counted; only the first thousand are listed.
 * report-2  An invariant that was never checked is shown as checked 0 times, so that it does not look like a pass.
 */
export const INVARIANTS = {
  V1: 'acknowledged data is present',
  V2: 'facts are numbered without gap or repeat',
  V3: 'every hash verifies, up to the head',
  V4: 'the tables match the facts',
  V5: 'only evidence follows an end',
  V6: 'recorded time never goes back',
  V7: 'a step has one accepted result',
  V8: 'nothing starts after a cancel',
  V9: 'attempts are counted and wait for their delay',
  V10: 'a once effect is not repeated automatically',
  V11: 'one effect key per step, none shared',
  V12: 'epochs never fall',
  V13: 'no run is stranded',
  V15: 'one run or one reason per event and handler',
  V16: 'an emitted event and its result exist together',
  V17: 'no event is missed by a wait',
  V18: 'chains of causes are counted and bounded',
  V19: 'a task is closed once',
  V20: 'only permitted people decide',
  V21: 'the decided content is the shown content',
  V22: 'reminders and deadlines are recorded once',
  V23: 'every item has its own outcome',
  V24: 'no timer is early',
  V25: 'no throttle exceeds its limit',
  V26: 'checkpoints name known parents',
  V27: 'anchored data is present',
} as const

export type Invariant = keyof typeof INVARIANTS

/** The place of a violation. Null: in no stream (an event, a blob), or at no single fact. */
export interface Place {
  readonly stream: string | null
  readonly seq: number | null
}

export interface Violation extends Place {
  readonly id: Invariant
  readonly sentence: string
}

export type Tally = Readonly<Record<Invariant, number>>

export interface Report {
  readonly runs: number
  readonly sessions: number
  readonly clerks: number
  readonly tasks: number
  readonly facts: number
  readonly events: number
  /** The first thousand. */
  readonly violations: readonly Violation[]
  /** How many violations there are of each invariant, listed or not. */
  readonly found: Tally
  /** How often each invariant was checked. */
  readonly checked: Tally
  /** How many streams the anchor lists now; null: there is no anchor, or it was not replaced. */
  readonly anchored: number | null
}

const MAX_LISTED = 1_000

export const NOWHERE: Place = { stream: null, seq: null }

export const invariants = (): readonly Invariant[] => Object.keys(INVARIANTS) as Invariant[]

const zeroes = (): Record<Invariant, number> =>
  Object.fromEntries(invariants().map((id) => [id, 0])) as Record<Invariant, number>

export class Findings {
  readonly #violations: Violation[] = []
  readonly #found = zeroes()
  readonly #checked = zeroes()
  readonly #counts = { runs: 0, sessions: 0, clerks: 0, tasks: 0, facts: 0, events: 0 }

  count(what: 'runs' | 'sessions' | 'clerks' | 'tasks' | 'facts' | 'events'): void {
    this.#counts[what] += 1
  }

  /** Records one check. The sentence is only built for a violation, because a clean ledger is checked millions of times. */
  expect(id: Invariant, holds: boolean, place: Place, sentence: () => string): void {
    this.#checked[id] += 1
    if (holds) return
    this.#found[id] += 1
    if (this.#violations.length >= MAX_LISTED) return
    this.#violations.push({ id, stream: place.stream, seq: place.seq, sentence: sentence() })
  }

  found(id: Invariant): number {
    return this.#found[id]
  }

  report(anchored: number | null = null): Report {
    return { ...this.#counts, violations: this.#violations, found: this.#found, checked: this.#checked, anchored }
  }
}
