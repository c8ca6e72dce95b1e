/** The circuit breaker, compared with a plain model: a log of results and a clock, with each rule checked by itself. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { policyCases } from '#test/support/stories/policy-cases.ts'
import { type CircuitFact, type CircuitPolicy, type CircuitState, circuit } from './circuit.ts'

const POLICY: CircuitPolicy = { window: 5, minCalls: 3, failureRate: 0.5, openForMs: 100, maxOpenForMs: 400 }

/** Uses the machine like a worker: asks, calls if it may, and reports at once. */
class Player {
  state: CircuitState = circuit.initial
  readonly facts: CircuitFact[] = []
  recent: boolean[] = []

  /** Returns true if the call was let through. */
  play(now: number, fails: boolean): boolean {
    const asked = circuit.decide(this.state, { type: 'call', now, policy: POLICY })
    if (asked.kind === 'refused') return false
    this.take(asked.facts)
    const [half] = asked.facts
    const probe = half?.type === 'half_opened' ? half : null
    this.recent = [...this.recent, fails].slice(-POLICY.window)
    const told = circuit.decide(this.state, { type: 'report', now, policy: POLICY, recent: this.recent, probe })
    if (told.kind === 'refused') throw new Error('a report is never refused')
    this.take(told.facts)
    if (told.facts.length > 0) this.recent = []
    return true
  }

  private take(facts: readonly CircuitFact[]): void {
    for (const fact of facts) {
      this.facts.push(fact)
      this.state = circuit.evolve(this.state, fact)
    }
  }
}

/** The oracle: no states, only until when calls are blocked and for how long the next time. */
class Oracle {
  private shutUntil: number | null = null
  private nextMs = POLICY.openForMs
  private log: boolean[] = []

  play(now: number, fails: boolean): boolean {
    if (this.shutUntil === null) {
      this.log = [...this.log, fails].slice(-POLICY.window)
      const bad = this.log.filter((one) => one).length
      if (this.log.length >= POLICY.minCalls && bad * 2 >= this.log.length) this.shut(now)
      return true
    }
    if (now < this.shutUntil) return false
    if (fails) this.shut(now)
    else {
      this.shutUntil = null
      this.nextMs = POLICY.openForMs
      this.log = []
    }
    return true
  }

  private shut(now: number): void {
    this.shutUntil = now + this.nextMs
    this.nextMs = Math.min(this.nextMs * 2, POLICY.maxOpenForMs)
    this.log = []
  }
}

const aCall = fc.record({ after: fc.integer({ min: 0, max: 120 }), fails: fc.boolean() })

describe('circuit', () => {
  test('[I7] circuit-1, circuit-2, circuit-3: the breaker lets through exactly the calls that the plain model does', () => {
    fc.assert(
      fc.property(fc.array(aCall, { maxLength: 60 }), (calls) => {
        const [player, oracle] = [new Player(), new Oracle()]
        let now = 0
        for (const { after, fails } of calls) {
          now += after
          expect(player.play(now, fails)).toBe(oracle.play(now, fails))
        }
      }),
      policyCases(5),
    )
  })

  test('[I7] a restart in the middle changes nothing: the state is the fold of its facts', () => {
    fc.assert(
      fc.property(fc.array(aCall, { maxLength: 60 }), (calls) => {
        const player = new Player()
        let now = 0
        for (const { after, fails } of calls) {
          now += after
          player.play(now, fails)
        }
        expect(player.facts.reduce(circuit.evolve, circuit.initial)).toEqual(player.state)
      }),
      policyCases(5),
    )
  })

  test('circuit-2: while a probe is out no other call passes, and a probe that never reports is followed by another', () => {
    const open: CircuitState = { kind: 'open', round: 1, until: 100, openForMs: 100 }
    const ask = (state: CircuitState, now: number) => circuit.decide(state, { type: 'call', now, policy: POLICY })
    expect(ask(open, 99).kind).toBe('refused')
    const first = ask(open, 100)
    if (first.kind === 'refused') throw new Error('the first probe may pass')
    expect(first.facts).toEqual([{ type: 'half_opened', round: 1, probe: 1, until: 200 }])
    const half = first.facts.reduce(circuit.evolve, open)
    expect(ask(half, 199).kind).toBe('refused')
    expect(ask(half, 200)).toMatchObject({ facts: [{ probe: 2, until: 300 }] })
  })

  test('a result from before the breaker opened, or of a probe that was given up, changes nothing', () => {
    const half: CircuitState = { kind: 'half_open', round: 2, probe: 2, until: 300, openForMs: 100 }
    const tell = (probe: { round: number; probe: number } | null) =>
      circuit.decide(half, { type: 'report', now: 250, policy: POLICY, recent: [false], probe })
    expect(tell(null)).toMatchObject({ facts: [] })
    expect(tell({ round: 2, probe: 1 })).toMatchObject({ facts: [] })
    expect(tell({ round: 2, probe: 2 })).toMatchObject({ facts: [{ type: 'closed' }] })
  })
})
