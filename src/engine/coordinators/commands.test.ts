/** Commands to a gate from outside, on an in-memory ledger that counts appends and reads. */
import { expect, test } from 'vitest'
import { MemoryBlobs } from '#adapters/storage/memory/blobs.ts'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryReader } from '#adapters/storage/memory/reader.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import type { Engine } from '#engine/core/engine.ts'
import { type FunctionOptions, fn } from '#executors/workflow/function.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { Append, Ledger, Outcome } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import { engineOf } from '#test/support/engine.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

interface Input {
  readonly n: number
  readonly text?: string
}

const isGate = (stream: string): boolean => stream.startsWith('gat_')

interface Begun {
  readonly blobs?: Blobs
  readonly works?: boolean
  readonly store?: MemoryStore
  /** False: behaves like a version in which kept keys had no documents. */
  readonly keepsKeys?: boolean
}

const begin = async (
  options: Partial<FunctionOptions<Input>>,
  { blobs = new MemoryBlobs(), works = true, store = new MemoryStore(), keepsKeys = true }: Begun = {},
) => {
  const reader = new MemoryReader(store)
  const inner = new MemoryLedger(store)
  const clock = new VirtualClock(1_000_000)
  const appends: Append[] = []
  const outcomes: Outcome[] = []
  let factsRead = 0
  let bytesRead = 0
  const ledger: Ledger = {
    append: async (batch) => {
      const answers = await inner.append(batch)
      appends.push(...batch)
      outcomes.push(...answers)
      return answers
    },
    load: async (streams, query) => {
      const records = await inner.load(streams, query)
      for (const record of records) {
        if (record == null || !isGate(record.stream)) continue
        factsRead += record.facts.length
        for (const { body } of record.facts) bytesRead += body.length
      }
      return records
    },
    events: (query) => inner.events(query),
    claim: (request) => inner.claim(request),
    beat: (request) => inner.beat(request),
    retire: (worker, now) => inner.retire(worker, now),
    close: () => inner.close(),
  }
  const seen: number[] = []
  const hear = fn<Input>('hear', { trigger: 'go', ...options }, async ({ input, step }) => {
    await step.run('note', () => void seen.push(input.n))
  })
  const document: Reader['document'] = async (...asked) => {
    const found = await reader.document(...asked)
    bytesRead += JSON.stringify(found).length
    return found
  }
  const documents: Reader['documents'] = async (query) => {
    const page = await reader.documents(query)
    bytesRead += JSON.stringify(page).length
    return page
  }
  const source = { name: 'test', events: { go: null }, functions: [hear] }
  const engine: Engine = engineOf({ ledger, clock, source, deps: { blobs, ...(keepsKeys && { document, documents }) } })
  const started = works ? engine.start() : engine.declare()
  await clock.advance(0)
  await started
  const during = async <Value>(work: Promise<Value>): Promise<Value> => {
    let isOver = false
    const over = (): void => {
      isOver = true
    }
    work.then(over, over)
    while (!isOver) await clock.advance(10)
    return work
  }
  const gateAppends = () => appends.filter(({ writes }) => writes.some(({ stream }) => isGate(stream)))
  return { clock, engine, appends, outcomes, seen, during, gateAppends, read: () => factsRead, bytes: () => bytesRead }
}

const starts = (engine: Engine, count: number, input = (n: number): Input => ({ n })): Promise<readonly RunId[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => engine.startRun('hear', input(n))))

const OPEN = { whilePaused: 'hold' } as const

test('coordinator-commands-2: simultaneous calls share appends of a bounded size (14.2)', async () => {
  const { engine, during, gateAppends } = await begin(OPEN)
  const before = gateAppends().length
  await during(starts(engine, 1_000))
  const born = gateAppends()
    .slice(before)
    .map(({ writes }) => writes.filter(({ create }) => create !== null).length)
    .filter((runs) => runs > 0)
  expect(born.reduce((sum, runs) => sum + runs, 0)).toBe(1_000)
  expect(born.length).toBeLessThan(10)
  expect(Math.max(...born)).toBeLessThanOrEqual(256)
})

test('coordinator-commands-2: ten times as many simultaneous calls read about ten times as many facts of the gate, not a hundred times (14.2)', async () => {
  const costOf = async (count: number): Promise<number> => {
    const { engine, during, read } = await begin(OPEN)
    const before = read()
    await during(starts(engine, count))
    return read() - before
  }
  const [few, many] = [await costOf(300), await costOf(3_000)]
  expect(many).toBeLessThan(20 * few)
})

test('coordinator-commands-3: a call whose run cannot be created fails alone (14.2)', async () => {
  const inner = new MemoryBlobs()
  const poisoned = new Set<string>()
  const blobs: Blobs = {
    put: (hash, text) => {
      if (text.includes('poison')) poisoned.add(hash)
      return inner.put(hash, text)
    },
    get: (hash) => (poisoned.has(hash) ? Promise.reject(new Error('the blob is gone')) : inner.get(hash)),
  }
  const { engine, during } = await begin(OPEN, { blobs })
  const long = 'poison'.repeat(20_000)
  const calls = Array.from({ length: 20 }, (_, n) =>
    engine.startRun('hear', n === 7 ? { n, text: long } : { n }).then(
      () => 'answered',
      (error: Error) => error.message,
    ),
  )
  const answers = await during(Promise.all(calls))
  expect(answers.filter((answer) => answer !== 'answered')).toEqual(['the blob is gone'])
  expect(answers[7]).toBe('the blob is gone')
})

test('coordinator-commands-4: calls and the gate held by the same process take turns to write: no conflicts, and events still start runs (14.2)', async () => {
  const { engine, outcomes, seen, during } = await begin({ ...OPEN, overlap: 'buffer_all', overlapKey: 'payload.n' })
  const heardWhile: boolean[] = []
  const caller = async (lane: number): Promise<void> => {
    for (let i = 0; i < 40; i++) {
      await engine.startRun('hear', { n: lane * 1_000 + i })
      if (i === 5 && lane === 0) await engine.send({ type: 'go', data: { n: -1 } })
      if (i === 39) heardWhile.push(seen.includes(-1))
    }
  }
  await during(Promise.all(Array.from({ length: 8 }, (_, lane) => caller(lane))))
  expect(heardWhile).toEqual(Array.from({ length: 8 }, () => true))
  expect(outcomes.filter(({ kind }) => kind === 'conflict')).toEqual([])
})

test('checkpoint-pace-1: callers write checkpoints for a gate that no worker holds, and a call reads only the facts after one (14.2)', async () => {
  const { engine, during, read, gateAppends } = await begin(OPEN, { works: false })
  for (let round = 0; round < 20; round++) await during(starts(engine, 50))
  const before = read()
  await during(starts(engine, 1))
  expect(read() - before).toBeLessThan(1_200)
  const checkpoints = gateAppends().filter(({ writes }) =>
    writes.some(({ facts }) => facts.some(({ type }) => type === 'gate.checkpointed')),
  )
  expect(checkpoints.length).toBeGreaterThan(0)
})

test('kept-claims-1: a call with a key reads about as much of the gate after thousands of other calls as after a hundred (14.4.4)', async () => {
  const { clock, engine, during, bytes } = await begin({ idempotency: { key: 'payload.n' } })
  let calls = 0
  const more = (count: number): Promise<unknown> => {
    const from = calls
    calls += count
    return during(starts(engine, count, (n) => ({ n: from + n })))
  }
  /** Average bytes of one call: calls one after the other, each reads the gate again. */
  const costOfOne = async (): Promise<number> => {
    const before = bytes()
    for (let i = 0; i < 20; i++) {
      await more(1)
      await clock.advance(5_000)
    }
    return (bytes() - before) / 20
  }
  const crowds = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      await more(25)
      await clock.advance(5_000)
    }
  }
  await crowds(4)
  const few = await costOfOne()
  await crowds(160)
  expect(await costOfOne()).toBeLessThan(2 * few)
})

test('kept-claims-1: keys that an older version left in the state of a gate are still in force (14.4.4)', async () => {
  const options = { idempotency: { key: 'payload.n' } }
  const store = new MemoryStore()
  const old = await begin(options, { store, keepsKeys: false })
  const first = await old.during(starts(old.engine, 200))
  await old.clock.advance(5_000)
  await old.during(starts(old.engine, 100, (n) => ({ n: 1_000 + n })))
  await old.during(old.engine.stop())
  const { engine, during, clock } = await begin(options, { store })
  await clock.advance(60_000)
  expect(await during(starts(engine, 200))).toEqual(first)
  await during(starts(engine, 200, (n) => ({ n: 2_000 + n })))
  await clock.advance(5_000)
  await during(starts(engine, 200, (n) => ({ n: 3_000 + n })))
  await clock.advance(5_000)
  expect(await during(starts(engine, 200))).toEqual(first)
})
