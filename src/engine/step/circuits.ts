/**
 * The breakers that the workers of one ledger share: their facts are events, told once each, read by everybody.
 *
 * Owns the state of every breaker as this process knows it, and its own last results. The rule is model/worker/circuit.ts.
 *
 * circuits-1  Who opens, probes or closes is settled by the event's id: the second teller of a fact learns that it was told.
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
/** What another process has told is known so much later, at the latest. */
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

  /** Whether a call may be made now, and if it is the one that tries. */
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

  /** How a call that was let through went. What nobody hears of is made good: a probe is given up, another one follows. */
  async report(circuit: Circuit, performed: ExecutionResult, probe: Probe | null): Promise<void> {
    const failed = isFailure(circuit, performed)
    // A caller's mistake says nothing about the target, but that it answers.
    if (performed.kind === 'failed' && !failed && probe === null) return
    const { key, policy } = circuit
    const recent = [...(this.recent.get(key) ?? []), failed].slice(-policy.window)
    this.recent.set(key, recent)
    const command: CircuitCommand = { type: 'report', now: this.deps.clock.now(), policy, recent, probe }
    for (const fact of advanceCircuit(this.stateOf(key), command).facts) await this.tell(key, fact)
  }

  /** Every breaker that has ever opened, and those that `declared` names, by key. */
  async list(declared: Iterable<string>): Promise<ReadonlyMap<string, CircuitState>> {
    await this.refresh()
    const keys = [...new Set([...declared, ...this.states.keys()])].sort()
    return new Map(keys.map((key) => [key, this.stateOf(key)]))
  }

  /** Closes it; one that is closed stays so. What waits already waits until the instant that it was told. */
  async reset(key: string, { by = 'local' }: { readonly by?: string } = {}): Promise<CircuitState> {
    await this.refresh()
    for (const fact of advanceCircuit(this.stateOf(key), { type: 'reset', by }).facts) await this.tell(key, fact)
    return this.stateOf(key)
  }

  private stateOf(key: string): CircuitState {
    return this.states.get(key) ?? machine.initial
  }

  /** circuits-1: false if another has told it, or something else, meanwhile. Either way this process knows it afterwards. */
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
    // Another look may have read on meanwhile.
    if (sequence <= this.seen) return
    this.seen = sequence
    const key = subject ?? ''
    this.states.set(key, machine.evolve(this.stateOf(key), data as unknown as CircuitFact))
    this.recent.delete(key)
  }
}
