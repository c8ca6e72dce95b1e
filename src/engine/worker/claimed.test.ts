/** Claimed runs, loaded from the records and events that came with the claim or from a real in-memory ledger. */
import { beforeEach, expect, test } from 'vitest'
import { openMemory } from '#adapters/storage/memory/open.ts'
import { writeFact } from '#model/kernel/fact-codec.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { RunFact } from '#model/run/fact.ts'
import type { Claims, Ledger } from '#ports/ledger.ts'
import { aCreation, aFact, anAppend, anEvent, newRun, newWorker, START } from '#testing/ledger/builders.ts'
import { loadClaimed } from './claimed.ts'

const started: RunFact = {
  type: 'run.started',
  at: START,
  handler: 'send-invoice',
  input: { kind: 'event' },
  cause: null,
  parentStep: null,
  depth: 0,
  deadlineAt: null,
  startBy: null,
}
const STARTED = writeFact(started)

/** Wraps a ledger and records its queries. */
const overheard = (ledger: Ledger): { readonly asked: unknown[]; readonly ledger: Pick<Ledger, 'load' | 'events'> } => {
  const asked: unknown[] = []
  return {
    asked,
    ledger: {
      load: (streams) => {
        asked.push(streams)
        return ledger.load(streams)
      },
      events: (query) => {
        asked.push(query.sequences)
        return ledger.events(query)
      },
    },
  }
}

let ledger: Ledger
let claimed: Claims

beforeEach(async () => {
  ledger = openMemory().ledger
  for (const run of [newRun(), newRun()])
    await ledger.append([
      anAppend({
        events: [anEvent()],
        writes: [aCreation(run, { event: 0 }, { facts: [aFact(STARTED)] })],
      }),
    ])
  claimed = await ledger.claim({ worker: newWorker(), now: START, limit: 9 })
})

const brought = async (count: number): Promise<Pick<Claims, 'records' | 'events'>> => {
  const records = (await ledger.load(claimed.claims.slice(0, count).map(({ stream }) => stream))).filter(
    (one) => one !== null,
  )
  const sequences = records.flatMap(({ event }) => event ?? [])
  return { records, events: await ledger.events({ tenant: LOCAL_TENANT, sequences, limit: 9 }) }
}

const shortly = (all: Awaited<ReturnType<typeof loadClaimed>>) =>
  all
    .flatMap(({ runs }) => runs)
    .map(({ record: { id, epoch, event }, state }) => [id, epoch, event?.sequence, state.kind])

test('a claim that comes with all records and events needs no further query to the ledger', async () => {
  const { asked, ledger: listening } = overheard(ledger)
  const whole = await loadClaimed(listening, { ...claimed, ...(await brought(2)) })
  expect(asked).toEqual([])
  expect(shortly(whole)).toEqual(shortly(await loadClaimed(ledger, { claims: claimed.claims })))
  expect(whole.map(({ runs }) => runs.length)).toEqual([2])
})

test('records and events that did not come with the claim are loaded from the ledger', async () => {
  const { asked, ledger: listening } = overheard(ledger)
  const some = await loadClaimed(listening, { ...claimed, ...(await brought(1)) })
  expect(asked).toEqual([[claimed.claims[1]?.stream], [2]])
  expect(shortly(some)).toEqual(shortly(await loadClaimed(ledger, { claims: claimed.claims })))
})

test('a record with another epoch belongs to another worker and is skipped', async () => {
  const { records = [] } = await brought(2)
  const stale = records.map((record) => ({ ...record, epoch: record.epoch - 1 }))
  expect(shortly(await loadClaimed(ledger, { ...claimed, records: stale }))).toEqual([])
})
