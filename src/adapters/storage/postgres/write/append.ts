/**
 * Sends batches of appends and reads the answers.
 *
 * Owns which statement a batch needs, the locks of event types, and the fallback when a batch fails because of one of its appends:
 * the batch was rolled back as a whole, and its appends are sent one by one.
 */
import { createHash } from 'node:crypto'
import { isWorthSplitting } from '#adapters/storage/postgres/errors.ts'
import type { Command, Database } from '#adapters/storage/postgres/pool.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type ClaimableId, claimableId } from '#model/kernel/ids.ts'
import type { Append, Outcome } from '#ports/ledger.ts'
import { type AnswerRow, appendStatement, LOCK_STREAMS, LOCK_TYPES } from './append-sql.ts'
import { flatten } from './batch.ts'
import { diagnoseConflicts } from './diagnose-conflict.ts'
import { LeasedRuns, type StepsRow, stepValues, WRITE_STEPS, WRITE_STEPS_BESIDE } from './leased-runs.ts'
import type { BatchRows } from './lists.ts'
import { SHAPES, SINGLE, shapeOf } from './shape.ts'
import { isSingle, singleValues } from './single.ts'

/*
 * How a batch of appends is split: each part has its own statement, and is a transaction of its own.
 * Owns that choice. Steps of held runs use the fast statement (leased-runs.ts), in a part of their own or together with other appends in the
 * same transaction: a second commit would cost more than the fast statement saves.
 */

/** Indexes of appends in the batch. */
type Places = readonly number[]

/** Steps of held runs alone; releases without facts; any other appends; or others and steps in one transaction. */
type Part =
  | { readonly way: 'steps' | 'releases' | 'any'; readonly places: Places }
  | { readonly way: 'both'; readonly steps: Places; readonly others: Places }

/** Fewer steps than this are not worth a statement of their own. */
const FEW_STEPS = 8

const partsOf = (batch: readonly Append[], held: LeasedRuns): readonly Part[] => {
  const all = batch.map((_, place) => place)
  const isStep = batch.map((append) => held.isStep(append))
  const steps = all.filter((place) => isStep[place])
  if (steps.length === all.length) return [{ way: 'steps', places: all }]
  const isRelease = batch.map(bringsRelease)
  const releases = all.filter((place) => isRelease[place])
  const rest = all.filter((place) => !isRelease[place])
  const others = rest.filter((place) => !isStep[place])
  const isMixed = steps.length >= FEW_STEPS && others.length > 0
  const parts: readonly Part[] = [
    { way: 'releases', places: releases },
    isMixed ? { way: 'both', steps, others } : { way: 'any', places: rest },
  ]
  return parts.filter((part) => part.way === 'both' || part.places.length > 0)
}

const bringsRelease = ({ writes }: Append): boolean =>
  writes.some(({ create, facts }) => create === null && facts.length === 0)

const STATEMENTS = new Map(SHAPES.map((shape) => [shape, appendStatement(shape)]))
const SINGLE_STATEMENT = appendStatement(SINGLE)

/** First half of our advisory locks, which keeps them apart from those of other programs in the same database. */
const LOCK_CLASS = 0x7472_6968

/** Other processes may create the same row while we try; an append that loses this often has another problem. */
const MAX_TRIES = 3

const NONE: readonly never[] = []

/** No step was written. */
const NOT_AS_GUESSED: StepsRow = { position: 0, written: NONE }

/** The statement's report on the appends of a batch, by their index. */
interface Answer {
  readonly position: number
  readonly lost: ReadonlySet<number>
  readonly sequences: ReadonlyMap<number, readonly number[]>
  readonly signalled: ReadonlyMap<number, ReadonlySet<ClaimableId>>
}

export interface AppenderOptions {
  /** Keeps the locks of two ledgers in one database apart. */
  readonly schema: string
  readonly clock: 'database' | 'caller'
}

const lockOf = (shared: ReadonlyMap<number, boolean>): Command => {
  const keys = [...shared.keys()].sort((a, b) => a - b)
  return { statement: LOCK_TYPES, values: [LOCK_CLASS, `{${keys}}`, `{${keys.map((key) => shared.get(key))}}`] }
}

/**
 * The unique address of a fact does not protect a release without facts: no other write to its stream may be in progress when its
 * statement begins. So such releases are in parts of their own, which lock everything that they write or signal first.
 */
const locksOfReleases = ({ guard, signal }: BatchRows): readonly Command[] => {
  if (!guard.some(({ added }) => added === 0)) return NONE
  const streams = new Set([...guard, ...signal].map(({ stream }) => stream ?? ''))
  return [{ statement: LOCK_STREAMS, values: [[...streams]] }]
}

export class Appender {
  readonly #database: Database
  readonly #options: AppenderOptions
  /** Event types with waits, and the paths of those waits. Only grows; the statement reports what is missing. */
  readonly #paths = new Map<string, Set<string>>()
  readonly #held = new LeasedRuns()

  constructor(database: Database, options: AppenderOptions) {
    this.#database = database
    this.#options = options
  }

  async append(batch: readonly Append[]): Promise<readonly Outcome[]> {
    if (batch.length === 0) return []
    const outcomes = await this.#appendParts(batch, partsOf(batch, this.#held))
    for (const [place, append] of batch.entries()) this.#held.note(append, outcomes[place] as Outcome)
    return outcomes
  }

  /** Each append succeeds or fails on its own (ledger-2), so that parts may, too. */
  async #appendParts(batch: readonly Append[], parts: readonly Part[]): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = []
    const at = (places: readonly number[]): readonly Append[] => places.map((place) => batch[place] as Append)
    const put = (places: readonly number[], written: readonly Outcome[]): void => {
      for (const [i, place] of places.entries()) outcomes[place] = written[i] as Outcome
    }
    const write = async (part: Part): Promise<void> => {
      if (part.way === 'steps') return put(part.places, await this.#appendSteps(at(part.places)))
      if (part.way !== 'both') return put(part.places, await this.#appendAny(at(part.places)))
      const { steps, others } = part
      const written = await this.#appendBoth(at(steps), at(others))
      put([...steps, ...others], written)
    }
    const settled = await Promise.allSettled(parts.map(write))
    const reasons = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    if (reasons.length === 0) return outcomes
    throw asUnknown(reasons.find(isOutcomeUnknown) ?? reasons[0], outcomes)
  }

  async #appendSteps(steps: readonly Append[]): Promise<readonly Outcome[]> {
    return this.#judgeSteps(steps, await this.#writeSteps(steps))
  }

  /** Writes both in one transaction; if that is rejected, separately. Returns the outcomes of the steps first. */
  async #appendBoth(steps: readonly Append[], others: readonly Append[]): Promise<readonly Outcome[]> {
    const answers = await this.#writeBoth(steps, others)
    const written = answers === null ? await this.#appendSteps(steps) : NONE
    try {
      if (answers === null) return [...written, ...(await this.#appendAny(others))]
      const outcomes = await this.#judgeSteps(steps, answers.steps)
      return [...outcomes, ...(await this.#judge(others, answers.others))]
    } catch (error) {
      throw asUnknown(error, answers?.others ?? written)
    }
  }

  /** Null: rejected, and nothing is written. */
  async #writeBoth(
    steps: readonly Append[],
    others: readonly Append[],
  ): Promise<{ readonly steps: StepsRow; readonly others: readonly AnswerRow[] } | null> {
    const beside: Command = { statement: WRITE_STEPS_BESIDE, values: stepValues(steps) }
    try {
      const answers = await this.#database.transaction([...this.#commandsFor(others), beside])
      const [row] = (answers.at(-1) ?? NONE) as readonly StepsRow[]
      return { steps: row ?? NOT_AS_GUESSED, others: (answers.at(-2) ?? NONE) as readonly AnswerRow[] }
    } catch (error) {
      if (!isWorthSplitting(error)) throw error
      return null
    }
  }

  /** Sends the steps that the fast statement did not write through the general one, which reports why. */
  async #judgeSteps(steps: readonly Append[], { position, written }: StepsRow): Promise<readonly Outcome[]> {
    const done: Outcome = { kind: 'written', sequences: NONE, position, signalled: NONE }
    if (written === null) return steps.map(() => done)
    const isWritten = new Set(written)
    const others = steps.filter((_, place) => !isWritten.has(place))
    const outcomes: Outcome[] = written.map(() => done)
    const judged = (
      await this.#appendAny(others).catch((error: unknown) => {
        throw asUnknown(error, outcomes)
      })
    ).values()
    return steps.map((_, place) => (isWritten.has(place) ? done : (judged.next().value as Outcome)))
  }

  /** Steps that the database rejects have not been written; they are treated as if the guess about them was wrong. */
  async #writeSteps(steps: readonly Append[]): Promise<StepsRow> {
    try {
      const [row] = await this.#database.query<StepsRow>(WRITE_STEPS, stepValues(steps))
      return row ?? NOT_AS_GUESSED
    } catch (error) {
      if (!isWorthSplitting(error)) throw error
      return NOT_AS_GUESSED
    }
  }

  async #appendAny(batch: readonly Append[]): Promise<readonly Outcome[]> {
    try {
      return await this.#send(batch)
    } catch (error) {
      if (!isWorthSplitting(error)) throw error
      return this.#sendOneByOne(batch)
    }
  }

  /** The port has no outcome for an append that the database rejects. Its error is thrown after the others are written (ledger-2). */
  async #sendOneByOne(batch: readonly Append[]): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = []
    let refusal: unknown = null
    for (const append of batch) {
      try {
        outcomes.push(await this.#sendAlone(append))
      } catch (error) {
        if (!isWorthSplitting(error)) throw asUnknown(error, outcomes)
        refusal ??= error
      }
    }
    if (refusal !== null) throw asUnknown(refusal, outcomes)
    return outcomes
  }

  async #sendAlone(append: Append): Promise<Outcome> {
    for (let tries = 1; ; tries++) {
      try {
        const [outcome] = await this.#send([append])
        if (outcome !== undefined) return outcome
      } catch (error) {
        if (!isWorthSplitting(error) || tries >= MAX_TRIES) throw error
      }
    }
  }

  async #send(batch: readonly Append[]): Promise<readonly Outcome[]> {
    const commands = this.#commandsFor(batch)
    const [only] = commands
    if (only !== undefined && commands.length === 1)
      return this.#judge(batch, await this.#database.query(only.statement, only.values))
    const answers = await this.#database.transaction<AnswerRow>(commands)
    return this.#judge(batch, answers.at(-1) ?? NONE)
  }

  async #judge(batch: readonly Append[], answers: readonly AnswerRow[]): Promise<readonly Outcome[]> {
    // Each round learns at least one new path, so that this ends.
    if (this.#learnPaths(answers)) return this.#send(batch)
    const answer = read(answers)
    const lost = [...answer.lost].sort((a, b) => a - b)
    const verdicts = await diagnoseConflicts(
      this.#database,
      lost.map((place) => batch[place] as Append),
    )
    const outcomes = batch.map((_, place) => written(place, answer))
    for (const [i, place] of lost.entries()) outcomes[place] = verdicts[i] as Outcome
    return outcomes
  }

  /** Locks first, the append last. */
  #commandsFor(batch: readonly Append[]): readonly Command[] {
    const { clock } = this.#options
    if (batch.every(isSingle)) return [{ statement: SINGLE_STATEMENT, values: singleValues(batch, clock) }]
    const rows = flatten(batch, { clock, paths: (type) => this.#paths.get(type) ?? null })
    const shape = shapeOf(rows)
    const append: Command = {
      statement: STATEMENTS.get(shape) ?? appendStatement(shape),
      values: shape.values(rows, batch.length),
    }
    return [...this.#locksFor(rows), ...locksOfReleases(rows), append]
  }

  /** An exclusive lock for a type with a new wait, a shared one for an emitted type: append-sql.ts explains why. */
  #locksFor(rows: BatchRows): readonly Command[] {
    const emitted = new Set(rows.occurrence.map(({ type }) => type ?? ''))
    const awaited = new Set(rows.opening.map(({ type }) => type ?? ''))
    if (emitted.size + awaited.size === 0) return NONE
    const shared = new Map<number, boolean>()
    for (const type of emitted) shared.set(this.#lockKey(type), true)
    for (const type of awaited) shared.set(this.#lockKey(type), false)
    return [lockOf(shared)]
  }

  /** Waits for all writers of events of these types, and blocks new ones until the transaction ends. */
  lockAlone(types: readonly string[]): Command {
    return lockOf(new Map(types.map((type) => [this.#lockKey(type), false])))
  }

  #lockKey(type: string): number {
    return createHash('sha256').update(`${this.#options.schema}\n${type}`).digest().readInt32BE()
  }

  #learnPaths(answers: readonly AnswerRow[]): boolean {
    const unknown = answers.filter(({ kind }) => kind === 'unknown_path')
    for (const { type, path } of unknown) {
      const paths = this.#paths.get(type ?? '') ?? new Set()
      this.#paths.set(type ?? '', paths.add(path ?? ''))
    }
    return unknown.length > 0
  }
}

const isOutcomeUnknown = (error: unknown): boolean => error instanceof TrihandError && error.outcome === 'unknown'

/** If some appends are written, the outcome of the whole batch is unknown: the caller may send it again as it is. */
const asUnknown = (error: unknown, written: readonly unknown[]): unknown => {
  if (written.length === 0 || !(error instanceof TrihandError)) return error
  return new TrihandError(error.code, error.detail, { cause: error.cause, outcome: 'unknown' })
}

const read = (rows: readonly AnswerRow[]): Answer => {
  let position = 0
  const lost = new Set<number>()
  const sequences = new Map<number, number[]>()
  const signalled = new Map<number, Set<ClaimableId>>()
  for (const { kind, append, seq, stream } of rows) {
    const place = append ?? 0
    if (kind === 'position') position = seq ?? 0
    else if (kind === 'lost') lost.add(place)
    else if (kind === 'event') sequences.set(place, (sequences.get(place) ?? []).concat(seq ?? 0))
    else signalled.set(place, (signalled.get(place) ?? new Set()).add(claimableId(stream ?? '')))
  }
  // Drawn in the order of the events, but returned in any order.
  for (const own of sequences.values()) own.sort((a, b) => a - b)
  return { position, lost, sequences, signalled }
}

const written = (place: number, { position, sequences, signalled }: Answer): Outcome => {
  const own = sequences.get(place) ?? NONE
  return {
    kind: 'written',
    sequences: own,
    position: Math.max(position, own.at(-1) ?? 0),
    signalled: [...(signalled.get(place) ?? NONE)],
  }
}
