/** The engine on a memory ledger that fails where a test says so: what is published, written and answered, and when. */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { fn } from '#executors/workflow/function.ts'
import { type RunId, workerId } from '#model/kernel/ids.ts'
import type { FunctionSource } from '#model/workflow/function-source.ts'
import { engineOf, HOUR } from '#test/support/engine.ts'
import { answerStep } from '#test/support/step-answer.ts'
import { type FaultPlan, faultyLedger } from '#testing/faulty-ledger.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'
import type { Engine } from './engine.ts'

const NO_FAULTS: FaultPlan = () => null

interface Options {
  readonly store?: MemoryStore
  readonly plan?: FaultPlan
  readonly slots?: number
  readonly clock?: VirtualClock
  readonly leaseTtlMs?: number
}

const start = async (functions: readonly FunctionSource[], options: Options = {}) => {
  const {
    store = new MemoryStore(),
    plan = NO_FAULTS,
    slots = 100,
    clock = new VirtualClock(1_000),
    leaseTtlMs = 1_000 * HOUR,
  } = options
  const ledger = faultyLedger(new MemoryLedger(store), plan)
  const source = { name: 'test', events: { go: null, ping: null }, functions }
  const engine = engineOf({ ledger, clock, source, worker: { slots, leaseTtlMs } })
  await engine.start()
  await clock.advance(0)
  return { engine, clock, ledger, store }
}

const steps = (name: string, count: number, log: string[] = []): FunctionSource =>
  fn(name, {}, async ({ step }) => {
    for (let i = 0; i < count; i++) {
      await step.run(`s${i}`, () => {
        log.push(`s${i}`)
        return i
      })
    }
    return count
  })

const startRun = async ({ engine, clock }: { engine: Engine; clock: VirtualClock }, name: string): Promise<RunId> => {
  const run = engine.startRun(name, null)
  await clock.advance(0)
  return run
}

test('step-port-1 active-run-2 publish-1: no fact is published before it is in the ledger', async () => {
  let writing = true
  const told: string[] = []
  const log: string[] = []
  const system = await start([steps('two', 2, log)], {
    plan: ({ method, index }) => (method === 'append' && index === 1 && writing ? 'crash_before' : null),
  })
  system.engine.subscribe(({ facts }) => void told.push(...facts.map(({ type }) => type)))
  await startRun(system, 'two')
  writing = false
  await system.clock.advance(0)
  // The first step's append was never answered: its body ran, nothing was published, and the second step did not begin.
  expect(log).toEqual(['s0'])
  expect(told).toEqual([])
})

test('active-run-1 enter-2: a run whose append meets a conflict decides again and continues', async () => {
  const system = await start([steps('many', 5)], {
    plan: ({ method, index }) => (method === 'append' && index === 2 ? 'conflict' : null),
  })
  const run = await startRun(system, 'many')
  await system.clock.advance(0)
  expect(await system.engine.look(run)).toMatchObject({ status: 'success', output: 5 })
})

test('[R4][V12] active-run-4 step-port-2: a worker that lost its lease stops at once and its result is not accepted', async () => {
  const store = new MemoryStore()
  const clock = new VirtualClock(1_000)
  let finish: (value: string) => void = () => {}
  let after = 0
  const slow = fn('slow', {}, async ({ step }) => {
    const value = await step.run(
      'slow',
      () =>
        new Promise<string>((resolve) => {
          finish = resolve
        }),
    )
    after++
    return value
  })
  const first = await start([slow], { store, clock })
  const run = await startRun(first, 'slow')
  const stale = finish
  await new MemoryLedger(store).beat({
    worker: workerId('00000000000000000000000000000001'),
    now: clock.now(),
    ttlMs: -1,
  })
  const second = await start([slow], { store, clock })
  await clock.advance(0)
  stale('from the past')
  await clock.advance(0)
  expect(after).toBe(0)
  expect(first.engine.activeRunCount).toBe(0)
  finish('from the holder')
  await clock.advance(0)
  expect(await second.engine.look(run)).toMatchObject({ status: 'success', output: 'from the holder' })
  expect(after).toBe(1)
})

test('active-run-3 enter-1: a parked run is not in memory, and a step intended by a lost worker becomes uncertain', async () => {
  const store = new MemoryStore()
  const clock = new VirtualClock(1_000)
  const once = fn('once', {}, ({ step }) => step.run('pay', () => new Promise(() => {}), { effect: 'once' }))
  const first = await start([once], { store, clock })
  const run = await startRun(first, 'once')
  await new MemoryLedger(store).beat({
    worker: workerId('00000000000000000000000000000002'),
    now: clock.now(),
    ttlMs: -1,
  })
  const second = await start([once], { store, clock })
  await clock.advance(0)
  expect(second.engine.activeRunCount).toBe(0)
  const told = async () => (await new MemoryLedger(store).load([run]))[0]?.facts.map(({ type }) => type)
  // Not before its lease and its timeout are over: until then the lost worker may still act.
  expect(await told()).toEqual(['run.started', 'step.intended'])
  await clock.advance(1_001 * HOUR)
  expect(await told()).toEqual(['run.started', 'step.intended', 'step.uncertain'])
})

test('worker-1: no more runs are in memory than there are slots, and all of them end', async () => {
  let most = 0
  const system = await start([fn('work', {}, ({ step }) => step.run('x', () => Promise.resolve(1)))], { slots: 3 })
  system.engine.subscribe(() => {
    most = Math.max(most, system.engine.activeRunCount)
  })
  const runs = await Promise.all(Array.from({ length: 20 }, () => startRun(system, 'work')))
  await system.clock.advance(1_000)
  for (const run of runs) expect((await system.engine.look(run)).status).toBe('success')
  expect(most).toBeLessThanOrEqual(3)
})

test('worker-2: a run that cannot be continued is released and claimed again', async () => {
  let failures = 2
  const system = await start(
    [fn('wait', {}, ({ step }) => step.waitForEvent('go', { event: 'go' }).then(({ status }) => status))],
    {
      // The lookup of events after the claim fails: the run is dropped, not lost.
      plan: ({ method, index }) => (method === 'events' && index > 0 && failures-- > 0 ? 'fail_before' : null),
    },
  )
  const run = await startRun(system, 'wait')
  const sent = system.engine.send({ type: 'go', data: {} })
  await system.clock.advance(60_000)
  await sent
  expect(await system.engine.look(run)).toMatchObject({ status: 'success', output: 'received' })
})

test('worker-3: stop releases the runs in progress, may be called twice, and another worker continues them', async () => {
  const store = new MemoryStore()
  const clock = new VirtualClock(1_000)
  let hang = true
  const work = fn('work', {}, ({ step }) => step.run('x', () => (hang ? new Promise(() => {}) : 'done')))
  const first = await start([work], { store, clock })
  const run = await startRun(first, 'work')
  const stopped = Promise.all([first.engine.stop(), first.engine.stop()])
  await clock.advance(20)
  await stopped
  hang = false
  const second = await start([work], { store, clock })
  await clock.advance(0)
  expect(await second.engine.look(run)).toMatchObject({ status: 'success', output: 'done' })
})

test('intake-2 request-1 [Q4]: an event and its runs are one append, also when the answer is lost', async () => {
  const heard: unknown[] = []
  const hear = fn('hear', { trigger: 'ping' }, ({ input }) => {
    heard.push(input)
    return null
  })
  const system = await start([hear], {
    plan: ({ method, index }) => (method === 'append' && index % 2 === 0 ? 'done_then_fail' : null),
  })
  const receipt = system.engine.send({ type: 'ping', id: 'p', data: { n: 1 } })
  await system.clock.advance(10_000)
  expect((await receipt).runs).toHaveLength(1)
  await system.clock.advance(10_000)
  expect(heard).toEqual([{ n: 1 }])
})

test('intake-3: thousands of callers wait for their turn and all are answered', async () => {
  const system = await start([fn('hear', { trigger: 'ping' }, () => null)], { slots: 10 })
  const receipts = Promise.all(
    Array.from({ length: 5_000 }, (_, n) => system.engine.send({ type: 'ping', data: { n } })),
  )
  await system.clock.advance(1_000)
  expect(new Set((await receipts).map(({ sequence }) => sequence)).size).toBe(5_000)
}, 60_000)

test('[R1] a store that is down refuses the caller with a code, and nothing is half accepted', async () => {
  let down = true
  const system = await start([fn('hear', { trigger: 'ping' }, () => null)], {
    plan: ({ method }) => (method === 'append' && down ? 'fail_before' : null),
  })
  const refused = expect(system.engine.send({ type: 'ping', id: 'p', data: {} })).rejects.toMatchObject({
    code: 'LEDGER_UNAVAILABLE',
    outcome: 'not_done',
  })
  await system.clock.advance(10_000)
  await refused
  down = false
  const receipt = system.engine.send({ type: 'ping', id: 'p', data: {} })
  await system.clock.advance(10)
  expect((await receipt).duplicate).toBe(false)
})

test('[R1] commit-3: a finished step outlives a store that is down, and runs once', async () => {
  let down = false
  const log: string[] = []
  const work = fn('work', {}, async ({ step }) => {
    await step.run('a', () => {
      down = true
      log.push('a')
      return 1
    })
    return step.run('b', () => void log.push('b'))
  })
  const system = await start([work], { plan: ({ method }) => (method === 'append' && down ? 'fail_before' : null) })
  const run = await startRun(system, 'work')
  await system.clock.advance(60_000)
  expect(log).toEqual(['a'])
  down = false
  await system.clock.advance(60_000)
  expect((await system.engine.look(run)).status).toBe('success')
  expect(log).toEqual(['a', 'b'])
})

test('outside-1 [Q1]: only the first of many resolutions of one uncertain step is accepted', async () => {
  const lose = fn('lose', {}, ({ step }) =>
    step.run('pay', () => Promise.reject(new Error('lost')), { effect: 'once' }),
  )
  const system = await start([lose])
  const run = await startRun(system, 'lose')
  const words = Promise.allSettled(
    Array.from({ length: 20 }, (_, i) =>
      answerStep(system.engine, run, 'pay', { verdict: 'happened', by: `person-${i}`, result: i }),
    ),
  )
  await system.clock.advance(1_000)
  const settled = await words
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(
    settled.filter(
      (word) => word.status === 'rejected' && ['NOT_FOUND', 'RUN_ENDED', 'TASK_CLOSED'].includes(word.reason.code),
    ),
  ).toHaveLength(19)
  expect((await system.engine.look(run)).status).toBe('success')
})

test('route-2: a filter that fails to evaluate starts nothing', async () => {
  const system = await start([fn('hear', { trigger: { event: 'ping', filter: 'payload.a.b == 1' } }, () => null)])
  const receipt = system.engine.send({ type: 'ping', data: {} })
  await system.clock.advance(0)
  expect((await receipt).runs).toEqual([])
})

test('[Q22] a run that stops its worker five times is quarantined, and the others continue', async () => {
  const store = new MemoryStore()
  const clock = new VirtualClock(1_000)
  const work = fn('work', {}, ({ step }) => step.run('x', () => new Promise(() => {})))
  const first = await start([work, fn('other', {}, () => 'fine')], { store, clock })
  const run = await startRun(first, 'work')
  for (let life = 0; life < 6; life++) {
    await new MemoryLedger(store).beat({
      worker: workerId(life.toString().padStart(32, '0')),
      now: clock.now(),
      ttlMs: -1,
    })
    const next = await start([work, fn('other', {}, () => 'fine')], { store, clock })
    await clock.advance(0)
    if (life < 5) continue
    expect(await next.engine.look(run)).toMatchObject({ status: 'quarantined', error: { code: 'RUN_QUARANTINED' } })
    const other = await startRun(next, 'other')
    expect((await next.engine.look(other)).status).toBe('success')
  }
})

test('[V17] enter-3: an event that came before the timeout is received, although the run wakes after both', async () => {
  const store = new MemoryStore()
  const clock = new VirtualClock(1_000)
  const wait = fn(
    'wait',
    {},
    async ({ step }) => (await step.waitForEvent('go', { event: 'go', timeout: 5_000 })).status,
  )
  const first = await start([wait], { store, clock })
  const run = await startRun(first, 'wait')
  await first.engine.stop()
  const sender = await start([], { store, clock, slots: 0 })
  const sent = sender.engine.send({ type: 'go', data: {} })
  await clock.advance(60_000)
  await sent
  const second = await start([wait], { store, clock })
  await clock.advance(0)
  expect(await second.engine.look(run)).toMatchObject({ status: 'success', output: 'received' })
})

test('[V13] a step whose retry falls due while a longer step is at work is retried in time, and the run ends', async () => {
  const both = fn('both', {}, ({ step }) =>
    Promise.all([
      step.run('slow', () => new Promise((resolve) => clock.at(clock.now() + 60_000, () => resolve('slow')))),
      step.run('flaky', ({ attempt }) => (attempt === 1 ? Promise.reject(new Error('once')) : clock.now())),
    ]),
  )
  const clock = new VirtualClock(1_000)
  const system = await start([both], { clock })
  const run = await startRun(system, 'both')
  await clock.advance(120_000)
  const { status, output } = await system.engine.look(run)
  expect(status).toBe('success')
  // Not when the slow one was done: when its own delay was over.
  expect((output as number[])[1]).toBeLessThan(10_000)
})

test('[V13] a handler that fails while one of its steps is at work is entered again', async () => {
  const clock = new VirtualClock(1_000)
  const hasty = fn('hasty', {}, ({ step, run }) => {
    const slow = step.run('slow', () => new Promise((resolve) => clock.at(clock.now() + 60_000, () => resolve('slow'))))
    if (run.attempt === 1) throw new Error('once')
    return slow
  })
  const system = await start([hasty], { clock })
  const run = await startRun(system, 'hasty')
  await clock.advance(120_000)
  expect(await system.engine.look(run)).toMatchObject({ status: 'success', output: 'slow' })
})

test('active-run-3: a run that waits for nothing but its children is not in memory', async () => {
  const child = fn('child', {}, ({ step }) => step.sleep('long', HOUR))
  const parent = fn('parent', {}, ({ step }) => Promise.all([step.invoke('child', 'child'), step.run('own', () => 1)]))
  const system = await start([parent, child])
  await startRun(system, 'parent')
  await system.clock.advance(1_000)
  expect(system.engine.activeRunCount).toBe(0)
})

test('[R12] a cancel of a run that is just leaving memory is answered', async () => {
  const clock = new VirtualClock(1_000)
  const sleeper = fn('sleeper', {}, ({ step }) => step.sleep('long', HOUR))
  const system = await start([sleeper], { clock })
  const starting = system.engine.startRun('sleeper', null)
  // Call by call, so that the cancel comes while the append that parks the run is under way.
  let asked: Promise<void> | null = null
  for (let calls = 0; calls < 50 && clock.pending().length > 0; calls++) {
    await clock.fire(0)
    if (system.engine.activeRunCount === 1 && asked === null) asked = system.engine.cancel(await starting, 'ana', 'no')
    if (clock.pending()[0]?.at !== clock.now()) break
  }
  await clock.advance(10_000)
  await asked
  expect((await system.engine.look(await starting)).status).toBe('cancelled')
})
