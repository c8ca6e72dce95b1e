/**
 * The circuit breakers that the workers of one ledger share: their facts are events, each published once and read by all workers.
 *
 * Owns the state of each breaker as this process knows it, and this process's recent results. The rule is model/worker/circuit.ts.
 *
 * circuits-1  The event's id decides which worker opens, probes or closes: the second to publish a fact learns that it is already published.
 */
import { advanceCircuit } from '#engine/core/advance.ts'
import type { ExecutionResult } from '#engine/core/perform.ts'
import type { Circuit } from '#manifest/flow/circuit.ts'
import type { StoredEvent } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant, TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { type CircuitCommand, type CircuitFact, type CircuitState, circuit as machine } from '#model/worker/circuit.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ledger } from '#ports/ledger.ts'

interface Deps {
  readonly ledger: Pick<Ledger, 'events'>
  readonly clock: Clock
  readonly tenant: TenantId
  readonly tell: (
    type: string,
    about: { subject: string; data: Json; id: string },
  ) => Promise<{ readonly duplicate: boolean }>
}

export type Probe = { readonly round: number; readonly probe: number }
export type Admission =
  | { readonly kind: 'go'; readonly probe: Probe | null }
  | { readonly kind: 'held'; readonly until: Instant }

const PREFIX = 'trihand.circuit.'
const TYPES = ['opened', 'half_opened', 'closed'].map((type) => `${PREFIX}${type}`)
const PAGE = 500
/** Events that another process has published are known here after this delay, at the latest. */
const FRESH_MS = 500

const idOf = (key: string, fact: CircuitFact): string =>
  `circuit/${key}/${fact.round}/${fact.type}${fact.type === 'half_opened' ? `/${fact.probe}` : ''}`

const isFailure = ({ codes }: Circuit, performed: ExecutionResult): boolean => {
  if (performed.kind === 'done') return false
  return codes === null ? performed.retryable : codes.includes(performed.failure.code)
}

export class Circuits {
  private readonly deps: Deps
  private readonly states = new Map<string, CircuitState>()
  private readonly recent = new Map<string, boolean[]>()
  private seen = 0
  private freshUntil: Instant = 0

  constructor(deps: Deps) {
    this.deps = deps
  }

  /** Decides if a call may be made now, and if that call is the probe. */
  async admit(circuit: Circuit): Promise<Admission> {
    const { clock } = this.deps
    if (clock.now() >= this.freshUntil) await this.refresh()
    for (;;) {
      const state = this.stateOf(circuit.key)
      const now = clock.now()
      const { facts, refusal } = advanceCircuit(state, { type: 'call', now, policy: circuit.policy })
      if (refusal !== null) return { kind: 'held', until: state.kind === 'closed' ? now : state.until }
      const [fact] = facts
      if (fact === undefined) return { kind: 'go', probe: null }
      if (await this.tell(circuit.key, fact)) return { kind: 'go', probe: fact.type === 'half_opened' ? fact : null }
    }
  }

  /** Records the result of an admitted call. A result that is never reported does no harm: the probe expires and another one follows. */
  async report(circuit: Circuit, performed: ExecutionResult, probe: Probe | null): Promise<void> {
    const failed = isFailure(circuit, performed)
    // A failure that does not count (a caller's mistake) only shows that the target answers: it matters for a probe alone.
    if (performed.kind === 'failed' && !failed && probe === null) return
    const { key, policy } = circuit
    const recent = [...(this.recent.get(key) ?? []), failed].slice(-policy.window)
    this.recent.set(key, recent)
    const command: CircuitCommand = { type: 'report', now: this.deps.clock.now(), policy, recent, probe }
    for (const fact of advanceCircuit(this.stateOf(key), command).facts) await this.tell(key, fact)
  }

  /** Returns every breaker that has ever opened, and those that `declared` names, by key. */
  async list(declared: Iterable<string>): Promise<ReadonlyMap<string, CircuitState>> {
    await this.refresh()
    const keys = [...new Set([...declared, ...this.states.keys()])].sort()
    return new Map(keys.map((key) => [key, this.stateOf(key)]))
  }

  /** Closes the breaker; a closed one stays closed. Steps that already wait keep waiting until the instant that they were given. */
  async reset(key: string, { by = 'local' }: { readonly by?: string } = {}): Promise<CircuitState> {
    await this.refresh()
    for (const fact of advanceCircuit(this.stateOf(key), { type: 'reset', by }).facts) await this.tell(key, fact)
    return this.stateOf(key)
  }

  private stateOf(key: string): CircuitState {
    return this.states.get(key) ?? machine.initial
  }

  /** circuits-1: false if another process has already published this event, or one with the same id. In both cases this process reads it. */
  private async tell(key: string, fact: CircuitFact): Promise<boolean> {
    const told = await this.deps
      .tell(`${PREFIX}${fact.type}`, { subject: key, data: { ...fact }, id: idOf(key, fact) })
      .then(({ duplicate }) => !duplicate)
      .catch((error: unknown) => {
        if (error instanceof TrihandError && error.code === 'EVENT_ID_REUSED') return false
        throw error
      })
    await this.refresh()
    return told
  }

  private async refresh(): Promise<void> {
    const { ledger, clock, tenant } = this.deps
    for (;;) {
      const events = await ledger.events({ tenant, types: TYPES, after: this.seen, limit: PAGE })
      for (const event of events) this.take(event)
      if (events.length < PAGE) break
    }
    this.freshUntil = clock.now() + FRESH_MS
  }

  private take({ sequence, subject, data }: StoredEvent): void {
    // A concurrent refresh may already have read this event.
    if (sequence <= this.seen) return
    this.seen = sequence
    const key = subject ?? ''
    this.states.set(key, machine.evolve(this.stateOf(key), data as unknown as CircuitFact))
    this.recent.delete(key)
  }
}
