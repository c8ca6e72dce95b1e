/** Facts are verified when a store returns them: all facts, the last ones, and those that a claim returns. */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { EMPTY_CHAIN, sealFacts } from '#engine/core/chain.ts'
import { BROKEN_FACT, readRunFact } from '#model/kernel/fact-codec.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { createRedaction } from '#model/kernel/redaction.ts'
import type { Ledger, StreamRecord } from '#ports/ledger.ts'
import { aCreation, anAppend, newRun, newWorker } from '#testing/ledger/builders.ts'
import { CheckedLedger } from './checked-ledger.ts'
import { SystemIds } from './ids.ts'

const ids = new SystemIds()
const AT = 1_000

const stored = async (ledger: Ledger): Promise<RunId> => {
  const run = newRun()
  const facts = [1, 2, 3, 4].map((n) => ({ type: 'run.paused', at: AT + n, by: 'ana', reason: `${n}` }))
  const sealed = sealFacts({ ids, redaction: createRedaction([]) }, run, EMPTY_CHAIN, facts)
  const write = { facts: sealed.facts, headHash: sealed.head.headHash, wakeAt: AT }
  await ledger.append([anAppend({ writes: [aCreation(run, {}, write)] })])
  return run
}

/** Changes the records of one run as they are read. */
const tampered = (inner: Ledger, run: () => RunId, change: (record: StreamRecord) => StreamRecord): Ledger =>
  new Proxy(inner, {
    get: (target, name: keyof Ledger) => {
      const apply = (record: StreamRecord | null): StreamRecord | null =>
        record?.stream === run() ? change(record) : record
      if (name === 'load')
        return async (...asked: Parameters<Ledger['load']>) => (await target.load(...asked)).map(apply)
      if (name === 'claim')
        return async (...asked: Parameters<Ledger['claim']>) => {
          const claims = await target.claim(...asked)
          return { ...claims, records: (await target.load(claims.claims.map(({ stream }) => stream))).map(apply) }
        }
      return target[name].bind(target)
    },
  })

const withBody =
  (seq: number, body: string) =>
  (record: StreamRecord): StreamRecord => {
    const first = record.version - record.facts.length
    return { ...record, facts: record.facts.map((fact, i) => (first + i === seq ? { ...fact, body } : fact)) }
  }

test('a run that is unchanged is returned whole, in part, or without facts', async () => {
  const ledger = new CheckedLedger(new MemoryLedger(new MemoryStore()), ids)
  const run = await stored(ledger)
  const seqs = async (options?: Parameters<Ledger['load']>[1]): Promise<readonly unknown[] | undefined> =>
    (await ledger.load([run], options))[0]?.facts.map((fact) => fact.recordedAt - AT)
  expect(await seqs()).toEqual([1, 2, 3, 4])
  expect(await seqs({ after: 2 })).toEqual([3, 4])
  expect(await seqs({ after: 4 })).toEqual([])
  expect(await seqs({ after: 9 })).toEqual([])
  expect(await seqs({ last: 1 })).toEqual([4])
  expect(await seqs({ last: 3 })).toEqual([2, 3, 4])
  expect(await seqs({ last: 9 })).toEqual([1, 2, 3, 4])
  expect(await ledger.load([newRun()])).toEqual([null])
})

test('checked-1: a changed fact breaks its run in every load that includes it, and no other run', async () => {
  const inner = new MemoryLedger(new MemoryStore())
  const [run, other] = [await stored(inner), await stored(inner)]
  const ledger = new CheckedLedger(
    tampered(inner, () => run, withBody(2, '{"by":"eve","reason":"3"}')),
    ids,
  )
  for (const options of [{}, { after: 1 }, { after: 2 }, { last: 2 }]) {
    const [bad, good] = await ledger.load([run, other], options)
    expect(bad?.broken).toContain('fact 2 (run.paused)')
    expect(bad?.facts).toMatchObject([{ type: BROKEN_FACT }])
    expect(() => bad?.facts.map(readRunFact)).toThrow('FACT_BROKEN')
    expect(good?.broken).toBeUndefined()
  }
  const { claims, records } = await ledger.claim({ worker: newWorker(), now: AT, limit: 9 })
  expect(claims).toHaveLength(2)
  expect(records?.map(({ stream }) => stream)).toEqual([other])
})

test('checked-2: a row and facts from two moments are read again, and are not reported as broken', async () => {
  const inner = new MemoryLedger(new MemoryStore())
  const run = await stored(inner)
  let reads = 0
  const torn = (record: StreamRecord): StreamRecord =>
    reads++ === 0 ? { ...record, facts: record.facts.slice(0, 3) } : record
  const [record] = await new CheckedLedger(
    tampered(inner, () => run, torn),
    ids,
  ).load([run])
  expect(record?.broken).toBeUndefined()
  expect(record?.facts).toHaveLength(4)
})
