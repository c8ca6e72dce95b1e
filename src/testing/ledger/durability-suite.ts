/** Ledger suite, chapter 8: what is written is read back exactly, also from a ledger that was closed and reopened (ledger-1). */
import { describe, expect, test } from 'vitest'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { aCreation, aFact, anAppend, anEvent, aWait, aWrite, newRun, newWorker, START } from './builders.ts'
import type { LedgerHarness } from './harness.ts'

const MEGABYTE = 1024 * 1024

const PAYLOADS: readonly (readonly [string, Json])[] = [
  ['letters of many scripts', 'Grüße, 東京, شكرا, 🜁🜂🜃, e\u0301'],
  ['NUL and other control characters', 'a\u0000b\u0001\u001f\u007f\r\n\t'],
  ['lone surrogates', 'high \ud83d, low \ude00, reversed \ude00\ud83d'],
  ['line separators and byte order marks', '\u2028\u2029\ufeff\ufffe\uffff'],
  ['quotes, backslashes and SQL', `'"\\ \\u0000 $1 ? :name %s; drop table fact; --`],
  ['numbers at the edge', [Number.MAX_SAFE_INTEGER, Number.MIN_VALUE, Number.MAX_VALUE, 1e21, 0.1 + 0.2, -1]],
  ['empty things', ['', {}, [], null, false, 0]],
  ['odd keys', { '': 1, ' ': 2, 'a.b': 3, '\u0000': 4, ключ: 5 }],
]

export const durabilitySuite = (harness: LedgerHarness): void => {
  describe('payloads', () => payloads(harness))
  describe('closing', () => closing(harness))
  if (harness.capabilities.reopens) describe('reopening', () => reopening(harness))
}

const payloads = (harness: LedgerHarness): void => {
  test.each(PAYLOADS)('%s are read back as they were written', async (_, value) => {
    const [fact, event] = [aFact({ body: JSON.stringify(value) }), anEvent({ data: value })]
    const run = newRun()
    await harness.written({ writes: [aCreation(run, {}, { facts: [fact] })], events: [event] })
    expect((await harness.load(run)).facts).toEqual([fact])
    expect((await harness.ledger.events({ tenant: LOCAL_TENANT, limit: 1 }))[0]?.data).toEqual(value)
  })

  test('a body keeps its exact spelling', async () => {
    const fact = aFact({ body: '{"b":1.0,"a":1e2,\n "a" : "\\u0041"}' })
    const run = await harness.createRun({ facts: [fact] })
    expect((await harness.load(run)).facts).toEqual([fact])
  })

  test('a body of 5 MB is read back completely', async () => {
    const fact = aFact({ body: JSON.stringify('🜁0123456'.repeat((5 * MEGABYTE) / 10)) })
    const run = await harness.createRun({ facts: [fact] })
    const [loaded] = (await harness.load(run)).facts
    // Not toEqual, because a failure would print both.
    expect(loaded?.body === fact.body).toBe(true)
  })

  test("changes of the caller's objects after a call do not change the ledger", async () => {
    const data = { order: 7, lines: ['a'] }
    await harness.written({ events: [anEvent({ data })] })
    data.lines.push('b')
    const query = { tenant: LOCAL_TENANT, limit: 1 }
    const [first] = (await harness.ledger.events(query)).map((event) => event.data as typeof data)
    first?.lines.push('c')
    expect((await harness.ledger.events(query))[0]?.data).toEqual({ order: 7, lines: ['a'] })
  })

  test('a long stream is loaded completely, from its middle and by its end', async () => {
    const facts = Array.from({ length: 2000 }, () => aFact())
    const run = await harness.createRun({ facts })
    expect((await harness.load(run)).facts).toEqual(facts)
    const [tail] = await harness.ledger.load([run], { after: 1990 })
    expect(tail?.facts).toEqual(facts.slice(1990))
    const short = await harness.createRun()
    const ends = await harness.ledger.load([short, run], { last: 3 })
    expect(ends.map((end) => end?.facts)).toEqual([(await harness.load(short)).facts, facts.slice(-3)])
    expect(await harness.ledger.load([run], { last: 0 })).toMatchObject([{ version: 2000, facts: [] }])
    const alone = await harness.ledger.load([run, newRun(), short], { last: 1 })
    expect(alone.map((record) => record?.facts)).toEqual([
      ends[1]?.facts.slice(-1),
      undefined,
      ends[0]?.facts.slice(-1),
    ])
    expect(alone.map((record) => record?.version)).toEqual([ends[1]?.version, undefined, ends[0]?.version])
  })
}

const closing = (harness: LedgerHarness): void => {
  test('a closed ledger refuses every call, with nothing done', async () => {
    const run = await harness.createRun()
    const { ledger } = harness
    await ledger.close()
    const calls = [
      () => ledger.append([anAppend({ events: [anEvent()] })]),
      () => ledger.load([run]),
      () => ledger.events({ tenant: LOCAL_TENANT, limit: 1 }),
      () => ledger.claim({ worker: newWorker(), now: START, limit: 1 }),
      () => ledger.beat({ worker: newWorker(), now: START, ttlMs: 1 }),
      () => ledger.retire(newWorker(), START),
    ]
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE', outcome: 'not_done' })
  })

  test('a ledger may be closed twice', async () => {
    await harness.ledger.close()
    await harness.ledger.close()
  })
}

const reopening = (harness: LedgerHarness): void => {
  test('ledger-1: [R1] a reopened ledger contains every acknowledged fact and event', async () => {
    const [run, event] = [newRun(), anEvent()]
    const facts = [aFact(), aFact()]
    await harness.written({ events: [event], writes: [aCreation(run, { event: 0 }, { facts, wakeAt: START + 9 })] })
    const before = await harness.load(run)
    const ledger = await harness.reopen()
    expect(await ledger.load([run])).toEqual([before])
    expect(await ledger.events({ tenant: LOCAL_TENANT, limit: 9 })).toMatchObject([event.event])
    expect(await ledger.claim({ worker: newWorker(), now: START + 9, limit: 9 })).toMatchObject({
      claims: [{ stream: run }],
    })
  })

  test('ledger-3: a reopened ledger recognises appends that were sent before', async () => {
    const run = await harness.createHeldRun()
    const batch = [anAppend({ writes: [aWrite(run, { release: true })] }), anAppend({ events: [anEvent()] })]
    const [, first] = await harness.ledger.append(batch)
    const ledger = await harness.reopen()
    const outcomes = await ledger.append(batch)
    expect(outcomes.map((outcome) => outcome.kind)).toEqual(['already_written', 'already_written'])
    expect(outcomes[1]).toMatchObject({ sequences: harness.expectWritten(first).sequences })
  })

  test('ledger-5: a wait opened before the ledger was closed is signalled after it was reopened', async () => {
    const onType = await harness.createParkedRun({ opensWaits: [aWait()] })
    const onValue = await harness.createParkedRun({ opensWaits: [aWait({ path: 'order', value: '7' })] })
    const ledger = await harness.reopen()
    const [outcome] = await ledger.append([anAppend({ events: [anEvent({ data: { order: 7 } })] })])
    harness.expectSignalled(harness.expectWritten(outcome), onType, onValue)
    const { claims } = await ledger.claim({ worker: newWorker(), now: START, limit: 9 })
    expect(claims.map((claim) => claim.stream).sort()).toEqual([onType, onValue])
  })

  test('ledger-4: epochs and sequences continue after a reopening', async () => {
    const run = await harness.createParkedRun({ wakeAt: START })
    const { position } = await harness.written({ events: [anEvent()] })
    const ledger = await harness.reopen()
    const { claims } = await ledger.claim({ worker: newWorker(), now: START, limit: 1 })
    expect(claims).toMatchObject([{ stream: run, version: 2, epoch: 2 }])
    const [outcome] = await ledger.append([anAppend({ events: [anEvent()] })])
    expect(harness.expectWritten(outcome).sequences[0]).toBeGreaterThan(position)
  })
}
