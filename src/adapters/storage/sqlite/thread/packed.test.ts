/** Values that are sent between threads arrive unchanged, whatever their kind. */
import { expect, test } from 'vitest'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Append, Claims, Outcome, StreamRecord } from '#ports/ledger.ts'
import {
  aCreation,
  aFact,
  anAppend,
  anEvent,
  aTask,
  aWait,
  aWrite,
  newRun,
  newTask,
  newWorker,
} from '#testing/ledger/builders.ts'
import { packBatch, packOutcomes, unpackBatch, unpackOutcomes } from './packed.ts'
import { packClaims, unpackClaims } from './packed-claims.ts'
import { appendOf } from './packed-step.ts'

const writing = (...writes: Append['writes']): Append => anAppend({ writes })

/** The head hash is that of the last fact, as in every step. */
const aStep = (facts = [aFact()]): Append =>
  writing(aWrite(newRun(), { epoch: 3, facts, headHash: facts.at(-1)?.hash ?? '' }))

/** An event and the run that it starts, as intake writes them. */
const aBirth = (): Append => {
  const fact = aFact()
  return anAppend({ writes: [aCreation(newRun(), {}, { facts: [fact], headHash: fact.hash })], events: [anEvent()] })
}

test('a batch with every kind of append is unpacked unchanged', () => {
  const batch: readonly Append[] = [
    aStep(),
    aStep([aFact(), aFact({ body: '{"a":"é"}' })]),
    writing(
      aWrite(newRun(), { epoch: 1, release: true, wakeAt: 17, status: 'waiting', opensWaits: [aWait(), aWait()] }),
    ),
    writing(aWrite(newRun(), { epoch: 1, closesWaits: ['a', 'b'] })),
    writing(aWrite(newRun(), { epoch: 2, facts: [], release: true })),
    writing(aWrite(newRun(), { epoch: null })),
    writing(aWrite(newRun(), { epoch: 1 }), aWrite(newRun(), { epoch: 1 })),
    writing(aCreation(newRun())),
    aBirth(),
    { ...aBirth(), signals: [newRun()] },
    { ...aBirth(), events: [anEvent(), anEvent()] },
    { ...aBirth(), events: [anEvent({ requesters: ['ana'] })] },
    writing(aWrite(newTask(), { epoch: null, task: aTask() })),
    anAppend({ events: [anEvent()] }),
    { ...aStep(), signals: [newRun()] },
    { ...aStep(), documents: [{ tenant: LOCAL_TENANT, table: 't', key: 'k', value: null }] },
    aStep(),
  ]
  expect(unpackBatch(structuredClone(packBatch(batch))).map(appendOf)).toEqual(batch)
})

test('the writes of a run are packed as plain values, without objects', () => {
  const packed = packBatch([aStep(), writing(aWrite(newRun(), { epoch: 1, release: true }))])
  expect(packed.filter((value) => typeof value === 'object' && value !== null)).toEqual([])
  expect(packBatch([aBirth()]).some((value) => typeof value === 'object' && value !== null && 'writes' in value)).toBe(
    false,
  )
})

test('outcomes are unpacked unchanged', () => {
  const outcomes: readonly Outcome[] = [
    { kind: 'written', sequences: [], position: 7, signalled: [] },
    { kind: 'written', sequences: [8], position: 8, signalled: [newRun()] },
    { kind: 'written', sequences: [9], position: 10, signalled: [] },
    { kind: 'written', sequences: [9, 10], position: 10, signalled: [] },
    { kind: 'already_written', sequences: [], position: 8, signalled: [] },
    { kind: 'conflict', reason: 'epoch', stream: newRun(), version: 1, epoch: 2 },
  ]
  expect(unpackOutcomes(structuredClone(packOutcomes(outcomes)))).toEqual(outcomes)
})

const aRecord = (record: Partial<StreamRecord> = {}): StreamRecord => ({
  stream: newRun(),
  tenant: LOCAL_TENANT,
  handler: 'h',
  systemHash: 'system',
  bornHash: 'former',
  session: null,
  parent: newRun(),
  event: 4,
  base: 5,
  version: 6,
  epoch: 7,
  signal: 8,
  status: 'waiting',
  wakeAt: 9,
  lease: newWorker(),
  recoveries: 10,
  headHash: 'head',
  createdAt: 11,
  facts: [],
  ...record,
})

test('claims are unpacked unchanged, with and without records and events', () => {
  const claims = [1, 2].map((n) => ({
    stream: newRun(),
    tenant: LOCAL_TENANT,
    version: n,
    epoch: n + 1,
    signal: n + 2,
  }))
  const records = [
    aRecord(),
    aRecord({ facts: [aFact(), aFact(), aFact()], wakeAt: null }),
    aRecord({ facts: [aFact()] }),
  ]
  const events = [
    { ...anEvent().event, sequence: 1 },
    { ...anEvent({ requesters: ['ana'] }).event, sequence: 2 },
  ]
  const all: readonly Claims[] = [
    { claims, nextDueAt: 5, records, events },
    { claims, nextDueAt: null },
    { claims: [], nextDueAt: 3, records: [], events: [] },
  ]
  for (const one of all) expect(unpackClaims(structuredClone(packClaims(one)))).toEqual(one)
})
