/** Group commit: batches, unknown outcomes, an unavailable store. The ledger is a real one in memory, failing where a test says so. */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { plainSeals } from '#model/kernel/seal.ts'
import type { Append, Outcome } from '#ports/ledger.ts'
import { type Fault, faultyLedger } from '#testing/faulty-ledger.ts'
import { aCreation, anAppend, anEvent, aWrite, newRun } from '#testing/ledger/builders.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'
import { type AppendSource, Commit } from './commit.ts'
import { commitOnce } from './single-append.ts'

const digest = (text: string): string => text
const ids = { uuid: () => '0', roll: () => 0.5, digest, ...plainSeals(digest) }

const start = (faults: readonly (Fault | null)[] = [], options = { maxBatch: 256, maxInFlight: 1 }) => {
  const batches: number[] = []
  const inner = new MemoryLedger(new MemoryStore())
  const ledger = faultyLedger(inner, ({ index }) => faults[index] ?? null)
  const counted = {
    append: (batch: readonly Append[]) => {
      batches.push(batch.length)
      return ledger.append(batch)
    },
  }
  const clock = new VirtualClock()
  return { clock, batches, commit: new Commit({ ledger: counted, clock, ids }, options) }
}

const eventAppend = (): Append => anAppend({ events: [anEvent()] })

test('appends of one moment share one batch, up to the limit', async () => {
  const { clock, batches, commit } = start([], { maxBatch: 10, maxInFlight: 1 })
  const all = Array.from({ length: 25 }, () => commitOnce(commit, anAppend({ writes: [aCreation(newRun())] })))
  await clock.runUntilIdle()
  expect((await Promise.all(all)).every(({ kind }) => kind === 'written')).toBe(true)
  expect(batches).toEqual([10, 10, 5])
  expect(commit.pending).toBe(false)
})

test('an event counts for several steps, so that a batch of them takes no longer', async () => {
  const { clock, batches, commit } = start([], { maxBatch: 12, maxInFlight: 1 })
  const all = Array.from({ length: 10 }, () => commitOnce(commit, eventAppend()))
  await clock.runUntilIdle()
  await Promise.all(all)
  expect(batches).toEqual([4, 4, 2])
})

test('commit-1: a source has one append under way, and what it wants meanwhile goes into the next', async () => {
  const { clock, commit } = start()
  const log: string[] = []
  let left = 3
  const source: AppendSource = {
    behind: null,
    isWaiting: false,
    isBusy: false,
    isNew: false,
    next: () => {
      if (left-- === 0) return null
      log.push('next')
      commit.request(source)
      return eventAppend()
    },
    settle: () => void log.push('settled'),
    failed: () => 'drop',
  }
  commit.request(source)
  await clock.runUntilIdle()
  expect(log).toEqual(['next', 'settled', 'next', 'settled', 'next', 'settled'])
})

test('commit-2: after an unknown outcome the same append is sent again, and was written once', async () => {
  const { clock, batches, commit } = start(['done_then_fail', 'done_then_fail'])
  const outcome = commitOnce(commit, eventAppend())
  await clock.runUntilIdle()
  expect(await outcome).toMatchObject({ kind: 'already_written' })
  expect(batches).toEqual([1, 1, 1])
})

test('commit-3: a source that keeps its append is served once the store is back, one that drops it is rejected', async () => {
  const { clock, commit } = start(['fail_before', 'fail_before', 'fail_before'])
  const outcomes: Outcome[] = []
  const config = eventAppend()
  const runHost: AppendSource = {
    behind: null,
    isWaiting: false,
    isBusy: false,
    isNew: false,
    next: () => config,
    settle: (outcome) => void outcomes.push(outcome),
    failed: () => 'keep',
  }
  commit.request(runHost)
  const dropper = commitOnce(commit, eventAppend())
  const told = expect(dropper).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE', outcome: 'not_done' })
  await clock.runUntilIdle()
  await told
  expect(outcomes).toMatchObject([{ kind: 'written' }])
})

test('a source whose next() throws does not stop the others', async () => {
  const { clock, commit } = start()
  const errors: TrihandError[] = []
  const broken: AppendSource = {
    behind: null,
    isWaiting: false,
    isBusy: false,
    isNew: false,
    next: () => {
      throw new Error('broken')
    },
    settle: () => {},
    failed: (error) => {
      errors.push(error)
      return 'drop'
    },
  }
  commit.request(broken)
  const other = commitOnce(commit, eventAppend())
  await clock.runUntilIdle()
  expect(await other).toMatchObject({ kind: 'written' })
  expect(errors).toMatchObject([{ code: 'INTERNAL' }])
})

test('commit-8: a stopped commit begins no batch, and answers waiting and later callers (14.2)', async () => {
  const { clock, batches, commit } = start([null, 'fail_before'], { maxBatch: 3, maxInFlight: 1 })
  const ask = () =>
    commitOnce(commit, eventAppend()).then(
      ({ kind }) => kind,
      ({ code }: TrihandError) => code,
    )
  const before = Array.from({ length: 4 }, ask)
  clock.defer(() => commit.stop())
  await clock.runUntilIdle()
  expect([...(await Promise.all(before)), await ask()]).toEqual([
    'written',
    ...Array.from({ length: 4 }, () => 'SHUTTING_DOWN'),
  ])
  expect(batches.length).toBe(1)
})

test('commit-8: a batch that the store refuses while the process closes is answered with an unknown outcome (14.2)', async () => {
  const { clock, commit } = start(Array.from({ length: 99 }, () => 'done_then_fail' as const))
  const told = expect(commitOnce(commit, eventAppend())).rejects.toMatchObject({
    code: 'SHUTTING_DOWN',
    outcome: 'unknown',
  })
  await clock.advance(0)
  commit.stop()
  await clock.runUntilIdle()
  await told
})

test('single-append-1: a caller whose outcome stays unknown is rejected in the end, and the append is written once the store answers', async () => {
  const { clock, commit } = start(Array.from({ length: 14 }, () => 'done_then_fail' as const))
  const late: Outcome[] = []
  const told = expect(commitOnce(commit, eventAppend(), (outcome) => void late.push(outcome))).rejects.toMatchObject({
    outcome: 'unknown',
  })
  await clock.runUntilIdle()
  await told
  expect(late).toMatchObject([{ kind: 'already_written' }])
})

test('commit-4: two appends to one stream do not share a batch', async () => {
  const { clock, batches, commit } = start()
  const run = newRun()
  const born = commitOnce(commit, anAppend({ writes: [aCreation(run)] }))
  await clock.runUntilIdle()
  await born
  const first = commitOnce(commit, anAppend({ writes: [aWrite(run, { epoch: null })] }))
  const second = commitOnce(commit, anAppend({ writes: [aWrite(run, { epoch: null })] }))
  const other = commitOnce(commit, eventAppend())
  await clock.runUntilIdle()
  expect(await Promise.all([first, second, other])).toMatchObject([
    { kind: 'written' },
    { kind: 'conflict', reason: 'version' },
    { kind: 'written' },
  ])
  expect(batches).toEqual([1, 2, 1])
})

test('commit-4: a run that writes itself and a command from outside do not share a batch, nor two writers of a session', async () => {
  const { clock, batches, commit } = start()
  const [run, other, shared] = [newRun(), newRun(), newRun()]
  await Promise.all([
    ...[run, other, shared].map((one) => commitOnce(commit, anAppend({ writes: [aCreation(one)] }))),
    clock.runUntilIdle(),
  ])
  const holder = (...streams: readonly RunId[]): AppendSource => ({
    behind: null,
    isWaiting: false,
    isBusy: false,
    isNew: false,
    next: () => anAppend({ writes: streams.map((stream) => aWrite(stream, { epoch: null })) }),
    settle: () => {},
    failed: () => 'drop',
  })
  commit.request(holder(run))
  void commitOnce(commit, anAppend({ writes: [aWrite(run, { epoch: null })] }))
  await clock.runUntilIdle()
  commit.request(holder(run, shared))
  commit.request(holder(other, shared))
  await clock.runUntilIdle()
  expect(batches).toEqual([3, 1, 1, 1, 1])
})

test('commit-5: a refusal after an unknown outcome leaves the outcome unknown', async () => {
  const { clock, commit } = start(['done_then_fail', ...Array.from({ length: 20 }, () => 'fail_before' as const)])
  const told = expect(commitOnce(commit, eventAppend())).rejects.toMatchObject({ outcome: 'unknown' })
  await clock.runUntilIdle()
  await told
})

test('commit-6: appends of runs in progress come first, and new ones still get a share of every batch', async () => {
  const { clock, commit } = start([], { maxBatch: 8, maxInFlight: 1 })
  const order: string[] = []
  const asked = (name: string, isNew: boolean): AppendSource => ({
    behind: null,
    isWaiting: false,
    isBusy: false,
    isNew,
    next: () => {
      order.push(name)
      return anAppend({ writes: [aCreation(newRun())] })
    },
    settle: () => {},
    failed: () => 'drop',
  })
  for (let i = 0; i < 3; i++) commit.request(asked('new', true))
  for (let i = 0; i < 15; i++) commit.request(asked('begun', false))
  await clock.runUntilIdle()
  const batch = [...Array.from({ length: 7 }, () => 'begun'), 'new']
  expect(order).toEqual([...batch, ...batch, 'begun', 'new'])
})

test('commit-7: while the store is full and every batch waits for it, a new append is refused at once', async () => {
  const clock = new VirtualClock()
  let isFull = true
  const inner = new MemoryLedger(new MemoryStore())
  const append = async (batch: readonly Append[]) => {
    if (isFull) throw new TrihandError('STORAGE_FULL', 'the disk is full')
    return inner.append(batch)
  }
  const commit = new Commit({ ledger: { append }, clock, ids }, { maxBatch: 256, maxInFlight: 1 })
  let settled = false
  const kept: AppendSource = {
    behind: null,
    isWaiting: false,
    isBusy: false,
    isNew: false,
    next: () => eventAppend(),
    settle: () => {
      settled = true
    },
    failed: () => 'keep',
  }
  commit.request(kept)
  await clock.advance(1)
  // The only batch waits for the disk: no caller is left waiting behind it.
  await expect(commitOnce(commit, eventAppend())).rejects.toMatchObject({ code: 'STORAGE_FULL', outcome: 'not_done' })
  expect([commit.trouble?.code, settled]).toEqual(['STORAGE_FULL', false])
  isFull = false
  await clock.advance(5_000)
  expect([commit.trouble, settled]).toEqual([null, true])
})
