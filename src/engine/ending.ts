/**
 * The end of a run as an event: what `after: <function>` listens to.
 *
 * Owns its shape. Made only where somebody listens, and written with the run's last fact.
 *
 * ending-1  There is such an event if and only if the run has ended in that way while somebody listened, and it is there once.
 */
import { endSource } from '../manifest/sources.ts'
import { isHeard } from '../manifest/system.ts'
import type { Event } from '../model/event.ts'
import type { Json } from '../model/json.ts'
import type { Payload } from '../model/payload.ts'
import type { RunFact } from '../model/run-fact.ts'
import { causeFrom } from './cause.ts'
import { declaredEnd, declaresEnd, type Ended, type EndingHouse, type EndingRecord } from './declared-end.ts'
import { dataHash } from './events.ts'
import type { House } from './house.ts'
import { type Luggage, mergeLuggage } from './request.ts'
import { route } from './route.ts'

const ENDS: ReadonlySet<RunFact['type']> = new Set([
  'run.completed',
  'run.failed',
  'run.cancelled',
  'run.expired',
  'run.quarantined',
])

/** The type of the event that these facts come to, if anybody listens to it. */
const heardEnd = (house: Pick<House, 'system'>, handler: string, facts: readonly RunFact[]): string | null => {
  const fact = facts.find(({ type }) => ENDS.has(type))
  if (fact === undefined) return null
  const type = `trihand.${fact.type}`
  return isHeard(house.system(), type, endSource(handler)) ? type : null
}

/** A large output stays where it is: the event names the run. */
const outputOf = (output: Payload | null): Json => (output !== null && 'value' in output ? output.value : null)

/** Whether an end with these facts has anything to tell. */
export const tellsEnd = (house: Pick<House, 'system'>, handler: string, facts: readonly RunFact[]): boolean =>
  heardEnd(house, handler, facts) !== null || declaresEnd(house, handler, facts)

/** What is written with the end of a run: the event that others listen to, and those that its handler declares for such an end. */
export const endingOf = (house: EndingHouse, record: EndingRecord, ended: Ended, version: number): Luggage | null => {
  const declared = declaredEnd(house, record, ended, version)
  const heard = heardEnding(house, record, ended, version)
  if (heard === null || declared === null) return heard ?? declared
  return { ...mergeLuggage([heard, declared]), memory: null }
}

/** `version` is the run's before these facts. Null: nobody listens. */
const heardEnding = (
  house: EndingHouse,
  record: EndingRecord,
  { state, facts }: Ended,
  version: number,
): Luggage | null => {
  const type = heardEnd(house, record.handler, facts)
  if (type === null || state.kind !== 'ended') return null
  const { system, tenant, clock, ids } = house
  const { id, handler, session } = record
  const { status, error } = state
  const now = clock.now()
  const event: Event = {
    // Named by the fact, so that the ledger can be checked for it.
    id: `${id}/${version + facts.findIndex((fact) => ENDS.has(fact.type))}`,
    tenant,
    source: endSource(handler),
    type,
    subject: id,
    time: now,
    data: {
      run_id: id,
      session_id: session,
      handler,
      modality: 'workflow',
      status,
      output: outputOf(state.output),
      error: error === null ? null : { code: error.code, message: error.message },
    },
    ...causeFrom(record, state),
  }
  // Without a lease: a run whose end is decided again after a conflict must not hold places that nobody gives back.
  const { runs, suppressed } = route({ system: system(), ids, tenant, now, reserve: () => null }, event, 0)
  return { events: [{ event, dataHash: dataHash(house, event), suppressed }], runs, documents: [], memory: null }
}
