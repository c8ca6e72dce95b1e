/** Commands to a gate from outside, on a memory ledger that counts what is asked of it. */
import { expect, test } from 'vitest'
import { engineOf } from '../../test/support/engine.ts'
import { MemoryBlobs } from '../adapters/memory/blobs.ts'
import { MemoryLedger } from '../adapters/memory/ledger.ts'
import { MemoryStore } from '../adapters/memory/store.ts'
import { type FunctionOptions, fn } from '../executors/workflow/function.ts'
import type { RunId } from '../model/ids.ts'
import type { Blobs } from '../ports/blobs.ts'
import type { Append, Ledger, Outcome } from '../ports/ledger.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import type { Engine } from './engine.ts'

interface Input {
  readonly n: number
  readonly text?: string
}

const isGate = (stream: string): boolean => stream.startsWith('gat_')

const begin = async (options: Partial<FunctionOptions<Input>>, blobs: Blobs = new MemoryBlobs(), works = true) => {
  const inner = new MemoryLedger(new MemoryStore())
  const clock = new VirtualClock(1_000_000)
  const appends: Append[] = []
  const outcomes: Outcome[] = []
  let factsRead = 0
  const ledger: Ledger = {
    append: async (batch) => {
      const answers = await inner.append(batch)
      appends.push(...batch)
      outcomes.push(...answers)
      return answers
    },
    load: async (streams, query) => {
      const records = await inner.load(streams, query)
      for (const record of records) if (record != null && isGate(record.stream)) factsRead += record.facts.length
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
  const source = { name: 'test', events: { go: null }, functions: [hear] }
  const engine: Engine = engineOf({ ledger, clock, source, deps: { blobs } })
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
  return { clock, engine, appends, outcomes, seen, during, gateAppends, read: () => factsRead }
}

const starts = (engine: Engine, count: number, input = (n: number): Input => ({ n })): Promise<readonly RunId[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => engine.startRun('hear', input(n))))

const OPEN = { whilePaused: 'hold' } as const

test('clerk-commands-2: calls of one moment share appends, of a bounded size (14.2)', async () => {
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

test('clerk-commands-2: ten times as many calls at once read ten times as many facts of the gate, and not a hundred times (14.2)', async () => {
  const costOf = async (count: number): Promise<number> => {
    const { engine, during, read } = await begin(OPEN)
    const before = read()
    await during(starts(engine, count))
    return read() - before
  }
  const [few, many] = [await costOf(300), await costOf(3_000)]
  expect(many).toBeLessThan(20 * few)
})

test('clerk-commands-3: a call that cannot be born fails alone (14.2)', async () => {
  const inner = new MemoryBlobs()
  const poisoned = new Set<string>()
  const blobs: Blobs = {
    put: (hash, text) => {
      if (text.includes('poison')) poisoned.add(hash)
      return inner.put(hash, text)
    },
    get: (hash) => (poisoned.has(hash) ? Promise.reject(new Error('the blob is gone')) : inner.get(hash)),
  }
  const { engine, during } = await begin(OPEN, blobs)
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

test('clerk-commands-4: calls and the gate that this process holds write in turns: none meets the other, and events go on (14.2)', async () => {
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

test('checkpoint-pace-1: a gate that no worker holds gets checkpoints from its callers, and a call reads what came after (14.2)', async () => {
  const { engine, during, read, gateAppends } = await begin(OPEN, new MemoryBlobs(), false)
  for (let round = 0; round < 20; round++) await during(starts(engine, 50))
  const before = read()
  await during(starts(engine, 1))
  expect(read() - before).toBeLessThan(1_200)
  const checkpoints = gateAppends().filter(({ writes }) =>
    writes.some(({ facts }) => facts.some(({ type }) => type === 'gate.checkpointed')),
  )
  expect(checkpoints.length).toBeGreaterThan(0)
})
