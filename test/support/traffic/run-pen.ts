/**
 * Writes one run: turns commands into sealed facts and a write for the ledger, and tracks the run's state.
 *
 * Owns version, epoch, hash and folded state of a run that this process holds. A draft changes nothing until it is adopted, so the same
 * draft can be sent again while its outcome is unknown. Never chooses the next action (story.ts) nor sends (traffic.ts).
 */
import { createHash } from 'node:crypto'
import { readRunFact, writeFact } from '#model/kernel/fact-codec.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { GENESIS, sealText } from '#model/kernel/seal.ts'
import type { RunCommand, RunFact, RunState } from '#model/run/fact.ts'
import { run, statusOf, wakeAt } from '#model/run/run.ts'
import type { Claim, NewStream, SealedFact, StreamRecord, StreamWrite, WaitRow } from '#ports/ledger.ts'

export const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')

export interface RunPosition {
  readonly state: RunState
  readonly version: number
  readonly headHash: string
  readonly recordedAt: Instant
}

export interface Draft {
  readonly write: StreamWrite
  readonly next: RunPosition
}

export interface DraftOptions {
  readonly commands: readonly RunCommand[]
  readonly now: Instant
  readonly release: boolean
  readonly create?: NewStream
  readonly opensWaits?: readonly WaitRow[]
}

const UNWRITTEN: RunPosition = { state: run.initial, version: 0, headHash: GENESIS, recordedAt: 0 }

const decideAll = (from: RunState, commands: readonly RunCommand[]): { state: RunState; facts: readonly RunFact[] } => {
  let state = from
  const facts: RunFact[] = []
  for (const command of commands) {
    const decision = run.decide(state, command)
    if (decision.kind === 'refused') throw new Error(`${command.type} was refused: ${decision.code} ${decision.detail}`)
    facts.push(...decision.facts)
    state = fold(run, decision.facts, state)
  }
  return { state, facts }
}

/** Steps whose wait has ended between two states. */
const endedWaits = (before: RunState, after: RunState): readonly string[] => {
  if (before.kind !== 'live') return []
  const waiting = before.open.entries().filter(([, step]) => step.kind === 'waiting')
  const stillOpen = (step: string): boolean => after.kind === 'live' && after.open.get(step)?.kind === 'waiting'
  return waiting.map(([step]) => step).filter((step) => !stillOpen(step))
}

export class RunPen {
  readonly id: RunId
  readonly parent: RunId | null
  readonly base: number
  readonly epoch: number
  readonly signal: number
  #at: RunPosition

  constructor(
    id: RunId,
    held: { parent: RunId | null; base: number; epoch: number; signal: number; at?: RunPosition },
  ) {
    this.id = id
    this.parent = held.parent
    this.base = held.base
    this.epoch = held.epoch
    this.signal = held.signal
    this.#at = held.at ?? UNWRITTEN
  }

  /** A run as it was claimed and loaded. */
  static resume(record: StreamRecord, claim: Claim): RunPen {
    const { parent, base, headHash, version } = record
    const state = fold(run, record.facts.map(readRunFact))
    const recordedAt = record.facts.at(-1)?.recordedAt ?? 0
    const { epoch, signal } = claim
    return new RunPen(claim.stream as RunId, {
      parent: parent as RunId | null,
      base,
      epoch,
      signal,
      at: { state, version, headHash, recordedAt },
    })
  }

  get state(): RunState {
    return this.#at.state
  }

  get version(): number {
    return this.#at.version
  }

  draft(options: DraftOptions): Draft {
    const { release, create = null, opensWaits = [] } = options
    // V6: a clock that went back must not take the facts with it.
    const now = Math.max(this.#at.recordedAt, options.now)
    const { state, facts } = decideAll(this.#at.state, options.commands)
    const sealed = this.#seal(facts, now)
    const headHash = sealed.at(-1)?.hash ?? this.#at.headHash
    const version = this.#at.version + sealed.length
    const write: StreamWrite = {
      stream: this.id,
      create,
      expectedVersion: this.#at.version,
      epoch: create === null ? this.epoch : null,
      facts: sealed,
      headHash,
      status: create === null ? statusOf(state, release) : 'queued',
      wakeAt: create === null ? wakeAt(state) : now,
      release,
      seenSignal: this.signal,
      opensWaits,
      closesWaits: endedWaits(this.#at.state, state),
    }
    return { write, next: { state, version, headHash, recordedAt: sealed.at(-1)?.recordedAt ?? this.#at.recordedAt } }
  }

  adopt(draft: Draft): void {
    this.#at = draft.next
  }

  #seal(facts: readonly RunFact[], now: Instant): readonly SealedFact[] {
    let previous = this.#at.headHash
    return facts.map((fact, index) => {
      const { type, body } = writeFact(fact)
      const unsealed = {
        stream: this.id,
        seq: this.#at.version + index,
        type,
        recordedAt: Math.max(now, fact.at),
        body,
      }
      previous = digest(sealText(previous, unsealed))
      return { type, recordedAt: unsealed.recordedAt, body, hash: previous }
    })
  }
}
