/**
 * Checks how many throttled runs began in any period, by the recorded starts of the throttle: never more than the rule in each start
 * allows.
 *
 * Kept by key, and only for the last period of each. If the rule has changed within a period, the wider one counts.
 */
import type { Findings, Place } from '#cli/verify/report.ts'
import type { CoordinatorFact } from './coordinator-fact.ts'

type StartMade = Extract<CoordinatorFact, { readonly type: 'gate.start_made' }>

interface Counted {
  readonly at: number
  readonly cost: number
  /** Costs may be fractions: the sum must stay below this. */
  readonly bound: number
}

export class StartChecks {
  readonly #recent = new Map<string, readonly Counted[]>()

  /** V25. */
  check(findings: Findings, { key, cost, limit, burst, periodMs }: StartMade, at: number, place: Place): void {
    const before = (this.#recent.get(key) ?? []).filter((start) => start.at > at - periodMs)
    const within = [...before, { at, cost, bound: limit + burst }]
    this.#recent.set(key, within)
    const sum = within.reduce((all, start) => all + start.cost, 0)
    const bound = Math.max(...within.map((start) => start.bound))
    findings.expect(
      'V25',
      sum < bound,
      place,
      () =>
        `${sum} started within ${periodMs} ms; fewer than ${bound} are allowed (throttle key ${JSON.stringify(key)})`,
    )
  }
}
