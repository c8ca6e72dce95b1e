/**
 * Idempotency keys of a gate kept as documents: written with its checkpoint, read before a decision, removed once they have expired.
 *
 * Owns the reading and the writing. Which claims leave the state of a gate is decided in model/flow/kept-claims.ts.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import type { GateFact, GateState, OpenGate } from '#model/flow/gate-fact.ts'
import {
  claimedKeys,
  claimsToKeep,
  KEPT_TABLE,
  keptKey,
  keptValue,
  missingKeys,
  readKept,
  withRecalled,
} from '#model/flow/kept-claims.ts'
import type { Claim } from '#model/flow/policies/idempotency.ts'
import type { GateId, Instant } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { DocumentWrite } from '#ports/ledger.ts'

type World = Pick<EngineContext, 'document' | 'documents' | 'hasDocuments' | 'ids' | 'tenant'>

/** After this many new documents a sweep checks twice as many old ones, so that expired documents never outnumber valid ones. */
const SWEEP_AFTER = 500
const SWEPT_AT_ONCE = 1_000

export class KeptClaims {
  private readonly world: World
  private readonly gate: GateId
  /** Keys whose claims were read from documents into the state in memory, with the event that each document names. */
  private readonly recalled = new Map<string, number>()

  constructor(world: World, gate: GateId) {
    this.world = world
    this.gate = gate
  }

  /** Returns the state with the claims of these keys. The documents are read after the state, so that a later write is a conflict. */
  async recall(state: GateState, keys: readonly string[], now: Instant): Promise<GateState> {
    const { world } = this
    const missing = world.hasDocuments ? missingKeys(state, keys) : []
    const found = await Promise.all(
      missing.map(async (key) =>
        readKept(key, await world.document(world.tenant, KEPT_TABLE, this.documentKey(key)), now),
      ),
    )
    const claims = found.flatMap((claim) => claim ?? [])
    for (const { key, sequence } of claims) this.recalled.set(key, sequence)
    return withRecalled(state, claims)
  }

  /** Deletes the documents that these facts make obsolete, because their key was claimed by another event or call. */
  overridden(facts: readonly GateFact[]): readonly DocumentWrite[] {
    const keys = claimedKeys(facts).filter((key) => this.recalled.has(key))
    return [...new Set(keys)].map((key) => this.write(this.documentKey(key), null))
  }

  /** Returns the fact that follows a checkpoint, and the documents that go with it. Null if every claim stays in the state. */
  async keep(
    state: OpenGate,
    now: Instant,
  ): Promise<{ readonly fact: GateFact; readonly documents: readonly DocumentWrite[] } | null> {
    const isRecalled = ({ key, sequence }: Claim): boolean => this.recalled.get(key) === sequence
    const claims = this.world.hasDocuments ? claimsToKeep(state, now, isRecalled) : []
    if (claims.length === 0) return null
    const fresh = claims.filter((claim) => !isRecalled(claim))
    const kept = new Map(fresh.map((claim) => [this.documentKey(claim.key), keptValue(claim)]))
    const { since = 0, after = '' } = state.sweep ?? {}
    const swept = since + claims.length < SWEEP_AFTER ? null : await this.sweep(after, now)
    const gone = (swept?.gone ?? []).filter((key) => !kept.has(key))
    const documents = [
      ...gone.map((key) => this.write(key, null)),
      ...[...kept].map(([key, value]) => this.write(key, value)),
    ]
    const keys = claims.map(({ key }) => key)
    const fact = { type: 'gate.keys_kept', at: now, keys, ...(swept !== null && { swept: swept.last }) } as const
    return { fact, documents }
  }

  private async sweep(
    after: string,
    now: Instant,
  ): Promise<{ readonly gone: readonly string[]; readonly last: string }> {
    const { documents, tenant } = this.world
    const prefix = keptKey(this.gate, '')
    const page = await documents({ tenant, table: KEPT_TABLE, after: `${prefix}${after}`, limit: SWEPT_AT_ONCE })
    const own = page.filter(({ key }) => key.startsWith(prefix))
    const gone = own.filter(({ value }) => readKept('', value, now) === null).map(({ key }) => key)
    const last = own.length < SWEPT_AT_ONCE ? '' : (own.at(-1)?.key.slice(prefix.length) ?? '')
    return { gone, last }
  }

  private documentKey(key: string): string {
    return keptKey(this.gate, this.world.ids.digest(key))
  }

  private write(key: string, value: Json): DocumentWrite {
    return { tenant: this.world.tenant, table: KEPT_TABLE, key, value }
  }
}
