/**
 * Checks one run, fact by fact and then at rest: calls every check of a run, in order.
 *
 * Owns the order of checks only. After a fact that cannot be read that run's content is not checked; its chain still is.
 */
import { checkAttempt, checkEffectKey } from '#cli/verify/checks/attempt-checks.ts'
import { checkLife, checkTime } from '#cli/verify/checks/life-checks.ts'
import { checkRest } from '#cli/verify/checks/rest-checks.ts'
import { RunState } from '#cli/verify/checks/run-state.ts'
import { type Fact, readBody, readFact } from '#cli/verify/source/fact.ts'
import { blobsNamedBy } from '#cli/verify/source/payloads.ts'
import { beginChain, endChain, type Inspection } from './inspection.ts'
import type { Place } from './report.ts'
import { type CausedRow, type FactRow, nameOf, type StreamRow, type WaitRow } from './tables.ts'

/** The rows of all tables about one run. */
export interface RunRows {
  readonly row: StreamRow
  readonly facts: AsyncIterable<FactRow>
  readonly waits: readonly WaitRow[]
  readonly caused: readonly CausedRow[]
}

interface Reading {
  readonly row: StreamRow
  readonly state: RunState
  /** Events that results name, and the fact that names each. */
  readonly named: Map<string, number>
  /** The ids of the events that may report its ends. */
  readonly ends: Set<string>
  /** The ids of the lifecycle events that may report its work. */
  readonly tellers: Set<string>
  isReadable: boolean
}

export const inspectRun = async (inspection: Inspection, { row, facts, waits, caused }: RunRows): Promise<void> => {
  const { findings, moment } = inspection
  const chain = beginChain(inspection, row)
  const reading: Reading = {
    row,
    state: new RunState(),
    named: new Map(),
    ends: new Set(),
    tellers: new Set(),
    isReadable: true,
  }
  findings.count('runs')
  for await (const fact of facts) {
    findings.count('facts')
    chain.next(fact)
    inspectFact(inspection, reading, fact)
  }
  endChain(inspection, row, chain)
  const { state, named, ends, tellers, isReadable } = reading
  const stream = nameOf(row)
  inspection.evidence.run(stream, state)
  if (!isReadable) return
  const rest = { row, state, moment, place: { stream, seq: null } }
  checkRest(findings, rest, waits, inspection.opened)
  inspection.waits.parked(rest)
  inspection.children.add(rest)
  inspection.events.emitted({
    run: stream,
    tenant: row.tenant,
    named,
    ends,
    tellers,
    caused: caused.map(({ id }) => id),
  })
}

const ENDS: ReadonlySet<Fact['type']> = new Set([
  'run.completed',
  'run.failed',
  'run.cancelled',
  'run.expired',
  'run.quarantined',
])

/** Facts that are reported by lifecycle events besides its ends: a start, a retry, a step that is passed on to another handler. */
const TELLERS: ReadonlySet<Fact['type']> = new Set([
  'step.completed',
  'step.retry_scheduled',
  'run.retry_scheduled',
  'child.started',
])

const inspectFact = (inspection: Inspection, reading: Reading, row: FactRow): void => {
  const place = { stream: nameOf(reading.row), seq: row.seq }
  const body = readBody(row.body)
  if (body !== null) for (const hash of blobsNamedBy(row.type, body)) inspection.blobs.named(hash, place)
  const fact = body === null ? null : readFact(row.type, body)
  inspection.findings.expect(
    'V4',
    fact !== null,
    place,
    () => `the fact ${row.type} cannot be read: its type is unknown, or its body does not match the type`,
  )
  reading.isReadable &&= fact !== null
  if (fact === null || !reading.isReadable) return
  judge(inspection, reading, fact, { at: row.recorded_at, place })
  if ('events' in fact) for (const id of fact.events) reading.named.set(id, row.seq)
  if (ENDS.has(fact.type)) reading.ends.add(`${place.stream}/${row.seq}`)
  if (TELLERS.has(fact.type)) reading.tellers.add(`${place.stream}/${row.seq}`)
  reading.state.apply(fact, row.seq, row.recorded_at)
}

/** Checks a fact against the state before it. */
const judge = (
  { findings, effectKeys, reused, waits }: Inspection,
  { row, state }: Reading,
  fact: Fact,
  { at, place }: { readonly at: number; readonly place: Place },
): void => {
  checkLife(findings, state, fact, place)
  checkTime(findings, state, fact, at, place)
  checkAttempt(findings, state, fact, at, place)
  checkEffectKey(findings, state, fact, effectKeys, place)
  waits.received(state, fact, row.tenant, place)
  if (fact.type === 'step.reused') reused.add({ tenant: row.tenant, fact, place })
}
