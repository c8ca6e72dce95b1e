/**
 * Checks one coordinator (a gate, a schedule or a queue), fact by fact and then at rest: its chain, the runs it starts, its event types and
 * its wake.
 *
 * Owns the order of checks only. After a fact that cannot be read the coordinator's rest is not checked; its chain still is.
 */
import { type CoordinatorFact, readCoordinatorFact } from '#cli/verify/checks/coordinator-fact.ts'
import { CoordinatorState } from '#cli/verify/checks/coordinator-state.ts'
import { StartChecks } from '#cli/verify/checks/start-checks.ts'
import { beginChain, endChain, type Inspection } from './inspection.ts'
import type { Place } from './report.ts'
import { type FactRow, nameOf, type StreamRow, type WaitRow } from './tables.ts'

const OWN_SLOTS: ReadonlySet<string> = new Set(['slot', 'missed'])

export const inspectCoordinator = async (
  inspection: Inspection,
  row: StreamRow,
  facts: AsyncIterable<FactRow>,
  waits: readonly WaitRow[],
): Promise<void> => {
  const { findings } = inspection
  const chain = beginChain(inspection, row)
  const state = new CoordinatorState()
  const starts = new StartChecks()
  const stream = nameOf(row)
  let isReadable = true
  findings.count('clerks')
  for await (const { seq, type, body, ...rest } of facts) {
    findings.count('facts')
    chain.next({ seq, type, body, ...rest })
    const fact = readCoordinatorFact(type, body)
    findings.expect('V4', fact !== null, { stream, seq }, () => `the fact ${type} cannot be read`)
    isReadable &&= fact !== null
    if (fact === null) continue
    gather(inspection, row, fact, seq)
    if (fact.type === 'gate.start_made') starts.check(findings, fact, rest.recorded_at, { stream, seq })
    state.apply(fact)
  }
  endChain(inspection, row, chain)
  if (isReadable) checkRest(inspection, row, state, waits)
}

const gather = ({ coordinators }: Inspection, row: StreamRow, fact: CoordinatorFact, seq: number): void => {
  const [coordinator, { tenant }] = [nameOf(row), row]
  const { handler } = row
  if (fact.type === 'trigger.suppressed') {
    const { run, isAsked, caller } = fact
    coordinators.placed(coordinator, [fact.sequence])
    if (run !== null) coordinators.waitsNoMore(run)
    if (run !== null && !isAsked)
      coordinators.started({ coordinator, tenant, seq, run, handler, isTracked: false, caller, slot: null })
  }
  if (fact.type === 'gate.followed') coordinators.follows(fact)
  if (fact.type === 'gate.unfollowed') coordinators.followsNoMore(fact)
  if ((fact.type === 'gate.held' || fact.type === 'gate.buffered') && fact.run !== null) coordinators.waits(fact.run)
  if (fact.type === 'gate.started') {
    if (!fact.isAgain) coordinators.placed(coordinator, fact.events)
    const { run, tracked, caller } = fact
    coordinators.waitsNoMore(run)
    if (!fact.isAsked)
      coordinators.started({ coordinator, tenant, seq, run, handler, isTracked: tracked, caller, slot: null })
  }
  if (fact.type === 'queue.cycle_started')
    coordinators.started({
      coordinator,
      tenant,
      seq,
      run: fact.run,
      handler: null,
      isTracked: true,
      caller: null,
      slot: null,
    })
  if (fact.type === 'schedule.fired') {
    const { run, origin } = fact
    const slot = OWN_SLOTS.has(origin) ? fact.slot : null
    coordinators.started({ coordinator, tenant, seq, run, handler: null, isTracked: true, caller: null, slot })
  }
}

const checkRest = (
  { findings, moment }: Inspection,
  row: StreamRow,
  state: CoordinatorState,
  waits: readonly WaitRow[],
): void => {
  const place: Place = { stream: nameOf(row), seq: null }
  const heard = waits.map(({ step, type, path, value }) => [step, type, path, value].join('\n')).sort()
  const expected = state.types.map((type) => [`on ${type}`, type, '', ''].join('\n')).sort()
  findings.expect(
    'V4',
    heard.join() === expected.join(),
    place,
    () => 'its waits do not match the event types that it listens to',
  )
  if (row.lease !== null) return
  const { nextAt } = state
  const isInTime = nextAt === null || (row.wake_at !== null && row.wake_at <= Math.max(nextAt, moment.now))
  findings.expect(
    'V13',
    isInTime,
    place,
    () => `it must continue at ${nextAt}, but its wake is ${row.wake_at ?? 'never'}`,
  )
  findings.expect(
    'V13',
    !state.needsSlot || row.wake_at !== null,
    place,
    () => 'the schedule is neither ended nor paused and has no run, but nothing wakes it for its next slot',
  )
}
