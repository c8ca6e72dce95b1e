/** V15, V16, R3, R7: one run or reason per event and trigger; the effects of a result exist if and only if the result does. */
import { documentKey } from '#adapters/storage/memory/store.ts'
import type { StoredEvent } from '#model/event/event.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Look, LookedRun } from '#test/chaos/sim/look.ts'
import { notesOf, spentBy } from '#test/chaos/sim/plays/effects.ts'
import { hasGate } from '#test/chaos/sim/system.ts'
import type { Evidence } from './evidence.ts'

/** The listeners, stated again independently of the system under test. */
const LISTENERS: Readonly<Record<string, readonly string[]>> = {
  'entry.booked': ['audit'],
  'was.told': ['hear', 'echo'],
  'was.said': ['echo'],
}
const listenersOf = (type: string): readonly string[] =>
  type.startsWith('go.') ? [type.slice(3)] : (LISTENERS[type] ?? [])

export const checkEvents = ({ look }: Evidence): readonly string[] => {
  const events = look.events()
  const runs = look.runs()
  return [
    ...repeated(events),
    ...events.flatMap((event) => started(event, look)),
    ...carried(events, runs),
    ...documents(look, runs),
    ...memories(look, runs),
  ]
}

const repeated = (events: readonly StoredEvent[]): readonly string[] => {
  const names = events.map(({ source, id }) => `${source} ${id}`)
  return names.filter((name, i) => names.indexOf(name) !== i).map((name) => `V15: event ${name} is there twice`)
}

const started = (event: StoredEvent, look: Look): readonly string[] => {
  if (hasGate(event.type)) return []
  const row = look.row(event.sequence)
  const handlers = (row?.runs ?? []).map((run) => look.store.streams.get(run)?.handler ?? 'nobody')
  const spared = (row?.suppressed ?? []).map(({ trigger }) => trigger)
  const outcome = [...handlers, ...spared].sort().join()
  const expected = [...listenersOf(event.type)].sort().join()
  if (outcome !== expected)
    return [`V15: ${event.type} ${event.id} led to ${outcome || 'nothing'} instead of ${expected || 'nothing'}`]
  const unfiltered = event.type === 'was.told' && (event.data as { n?: number }).n !== 1 && handlers.includes('hear')
  return unfiltered ? [`V15: hear was started by an event that its filter refuses`] : []
}

/** Events of runs: each is named by exactly one fact, and every named one exists. */
const carried = (events: readonly StoredEvent[], runs: readonly LookedRun[]): readonly string[] => {
  const named = new Map<string, number>()
  for (const fact of runs.flatMap((run) => run.facts)) {
    if (fact.type !== 'step.completed' && fact.type !== 'run.completed') continue
    for (const id of fact.events ?? []) named.set(id, (named.get(id) ?? 0) + 1)
  }
  const own = events.filter(({ source }) => source === 'trihand')
  const unnamed = own
    .filter(({ id }) => named.get(id) !== 1)
    .map(({ id, type }) => `V16: ${type} ${id} is carried by ${named.get(id) ?? 0} results`)
  const ghosts = events
    .filter(({ type }) => type === 'ghost.seen')
    .map(({ id }) => `V16: ${id} comes from an attempt that failed`)
  const ids = new Set(own.map(({ id }) => id))
  const missing = [...named.keys()]
    .filter((id) => !ids.has(id))
    .map((id) => `V16: a result carries ${id}, which is not there`)
  return [...unnamed, ...ghosts, ...missing]
}

const documents = (look: Look, runs: readonly LookedRun[]): readonly string[] => {
  const expected = new Map(
    runs
      .filter(({ facts }) => facts.some((fact) => fact.type === 'step.completed' && fact.step === 'entry'))
      .map((run) => [documentKey(LOCAL_TENANT, 'account', run.id), JSON.stringify(look.errand(run).id)]),
  )
  // What gates record about events and calls is checked with their facts (gates.ts).
  const written = [...look.store.documents.keys()].filter((key) => !key.includes('\ntrihand.'))
  const all = new Set([...expected.keys(), ...written])
  return [...all]
    .filter((key) => expected.get(key) !== look.store.documents.get(key))
    .map(
      (key) =>
        `V16: document ${key.replaceAll('\n', ' ')} is ${look.store.documents.get(key)} instead of ${expected.get(key)}`,
    )
}

/** A step's memory is changed once if its result is recorded, and not at all otherwise. */
const memories = (look: Look, runs: readonly LookedRun[]): readonly string[] => {
  const recorded = runs.flatMap((run) => {
    const { handler } = run.stream
    if (handler !== 'note' && handler !== 'purse') return []
    const { id } = look.errand(run)
    const notes = (step: string): readonly string[] => (handler === 'note' ? notesOf(step, id) : [spentBy(id)])
    return run.facts.flatMap((fact) => (fact.type === 'step.completed' ? notes(fact.step) : []))
  })
  const changed = look
    .sessions()
    .flatMap(({ facts }) =>
      facts.filter(({ type }) => type === 'session.changed').flatMap(({ body }) => Object.keys(JSON.parse(body).set)),
    )
  const same = recorded.sort().join() === changed.sort().join()
  return same ? [] : [`V16: memory was changed for ${changed.join()} while results are recorded for ${recorded.join()}`]
}
