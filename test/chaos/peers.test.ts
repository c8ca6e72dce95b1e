/**
 * Known failures of similar systems, one named test each (reliability 7): on every store, or in every order. Q32 is the crash sweep.
 *
 * Tests that depend on large numbers are run in part by `npm test`, and in full by stages/many.ts.
 */
import { describe, expect, test } from 'vitest'
import { MemoryBlobs } from '#adapters/storage/memory/blobs.ts'
import { openMemory } from '#adapters/storage/memory/open.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { InProcessDispatcher } from '#adapters/system/dispatcher.ts'
import { SystemIds } from '#adapters/system/ids.ts'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { isStepFailure } from '#model/run/step-failure.ts'
import { newSystems, playTape } from '#test/chaos/sim/campaign.ts'
import type { Planned } from '#test/chaos/sim/errands.ts'
import { inMacrotask } from '#test/chaos/sim/microtasks.ts'
import type { Play } from '#test/chaos/sim/play.ts'
import { family } from '#test/chaos/sim/plays/families.ts'
import { sequence } from '#test/chaos/sim/plays/steps.ts'
import { early } from '#test/chaos/sim/plays/waits.ts'
import { Tape } from '#test/chaos/sim/tape.ts'
import { Theatre, type Verdict } from '#test/chaos/sim/theatre.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { aCreation, anAppend, aWrite, newRun, newWorker } from '#testing/ledger/builders.ts'
import { startTestSystem, type TestStore } from '#testing/system.ts'
import { sized } from './whole.ts'

/** Runs that are cancelled, orders of one event, orders of a family. */
const MANY = sized({ whole: 10_000, part: 1_000 })
const ORDERS = sized({ whole: 1_000, part: 150 })
const FAMILIES = sized({ whole: 500, part: 75 })

onEveryStore('known failures of peers', (store) => {
  test('[Q3] mastra#4630, #5650: a resume at depth 3 continues in the innermost step', async () => {
    const done: string[] = []
    const level = (name: string, next: string | null) =>
      fn(name, {}, async ({ step }) => {
        await step.run('before', () => void done.push(`${name} before`))
        if (next === null) await step.waitForEvent('go', { event: 'go' })
        else await step.invoke('next', next)
        return step.run('after', () => void done.push(`${name} after`))
      })
    const functions = [level('top', 'middle'), level('middle', 'leaf'), level('leaf', null)]
    const system = await startTestSystem({ name: 'depth', events: { go: null }, functions }, store())
    const run = await system.start('top')
    await system.settle()
    await system.crash()
    await system.send({ type: 'go', data: {} })
    await system.settle()
    expect((await system.look(run)).status).toBe('success')
    expect(done).toEqual(['top before', 'middle before', 'leaf before', 'leaf after', 'middle after', 'top after'])
    await system.close()
  })

  test('[Q4] langgraph#8039, #8115: thirty steps that end in one tick are all kept, in their order', async () => {
    let performed = 0
    const thirty = fn('thirty', {}, ({ step }) =>
      Promise.all(Array.from({ length: 30 }, (_, n) => step.run('part', () => ++performed * 0 + n, { key: `${n}` }))),
    )
    const system = await startTestSystem({ name: 'thirty', functions: [thirty] }, store())
    const run = await system.start('thirty')
    await system.settle()
    expect((await system.look(run)).output).toEqual(Array.from({ length: 30 }, (_, n) => n))
    expect(performed).toBe(30)
    await system.close()
  })

  test('[Q5] langgraph#8810: the late completion of a cancelled run does not overwrite a newer turn', async () => {
    let finish: () => void = () => {}
    const functions = [
      fn('old', {}, ({ step }) =>
        step.run('turn', async ({ remember }) => {
          await new Promise<void>((resolve) => {
            finish = resolve
          })
          remember('word', 'old')
        }),
      ),
      fn('new', {}, ({ step }) => step.run('turn', ({ remember }) => remember('word', 'new'))),
    ]
    const system = await startTestSystem({ name: 'turns', functions }, store())
    const session = await system.run(() => system.engine.sessions.create())
    const old = await system.start('old', null, { session })
    await system.settle()
    await system.run(() => system.engine.cancel(old, 'ana', 'another turn'))
    await system.start('new', null, { session })
    await system.settle()
    finish()
    await system.settle()
    expect(await system.run(() => system.engine.sessions.recall(session, 'word'))).toBe('new')
    expect((await system.look(old)).status).toBe('cancelled')
    await system.close()
  })

  test('[Q8] inngest-js#1617: the losers of a race do not keep the run open', async () => {
    const race = fn('race', {}, async ({ step }) => {
      const { event } = await step.waitForEvent('either', { anyOf: ['a', 'b'] })
      const timer = step.sleep('timer', '1h').then(() => 'timer')
      const wait = step.waitForEvent('never', { event: 'c' }).then(() => 'c')
      return [event?.type, await Promise.race([timer, wait, step.run('step', () => 'step')])]
    })
    const system = await startTestSystem(
      { name: 'race', events: { a: null, b: null, c: null }, functions: [race] },
      store(),
    )
    const run = await system.start('race')
    await system.send({ type: 'b', data: {} })
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: ['b', 'step'] })
    const before = await system.store.reader.run(LOCAL_TENANT, run)
    expect(before).toMatchObject({ wakeAt: null, leased: false })
    await system.send({ type: 'a', data: {} })
    await system.send({ type: 'c', data: {} })
    await system.advance('2h')
    expect(await system.store.reader.run(LOCAL_TENANT, run)).toEqual(before)
    await system.close()
  })

  test('[Q9] inngest#1999: a wait works again when its run is rerun', async () => {
    const wait = fn('wait', {}, async ({ step }) => (await step.waitForEvent('go', { event: 'go' })).status)
    const system = await startTestSystem({ name: 'again', events: { go: null }, functions: [wait] }, store())
    const run = await system.start('wait')
    await system.settle()
    await system.run(() => system.engine.cancel(run, 'ana', 'not now'))
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.settle()
    await system.crash()
    await system.send({ type: 'go', data: {} })
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'received' })
    await system.close()
  })

  test('[Q12] dbos-transact-ts#1252: one bad append among 64 fails alone', async () => {
    const system = await startTestSystem({ name: 'batch', functions: [] }, store())
    const { ledger } = system.store
    const runs = Array.from({ length: 64 }, () => newRun())
    await ledger.append(runs.map((run) => anAppend({ writes: [aCreation(run, { lease: newWorker() })] })))
    const batch = runs.map((run, i) => anAppend({ writes: [aWrite(run, { expectedVersion: i === 31 ? 7 : 1 })] }))
    const kinds = (await ledger.append(batch)).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'written')).toHaveLength(63)
    expect(kinds[31]).toBe('conflict')
    await ledger.close()
  })

  test('[Q13] dbos-transact-ts#1305: a result after the cancel or the timeout changes nothing', async () => {
    const late: (() => void)[] = []
    const slow = (): Promise<string> => new Promise((resolve) => late.push(() => resolve('late')))
    const functions = [
      fn('cancelled', {}, ({ step }) => step.run('slow', slow)),
      fn('overdue', {}, async ({ step }) => {
        try {
          return await step.run('slow', slow, { timeout: '1s', retry: { maxAttempts: 1 } })
        } catch (error) {
          return isStepFailure(error) ? error.code : 'another error'
        }
      }),
    ]
    const system = await startTestSystem({ name: 'late', functions }, store())
    const cancelled = await system.start('cancelled')
    const overdue = await system.start('overdue')
    await system.settle()
    await system.run(() => system.engine.cancel(cancelled, 'ana', 'enough'))
    await system.advance('2s')
    for (const finish of late) finish()
    await system.settle()
    expect(await system.look(cancelled)).toMatchObject({ status: 'cancelled', output: null })
    expect(await system.look(overdue)).toMatchObject({ status: 'success', output: 'STEP_TIMEOUT' })
    await system.close()
  })

  test('[Q16] dbos-transact-ts#1303: a cancel is not recorded as the result of the active step', async () => {
    let hangs = true
    const work = fn('work', {}, ({ step }) => step.run('work', () => (hangs ? new Promise(() => {}) : 'done')))
    const system = await startTestSystem({ name: 'resume', functions: [work] }, store())
    const run = await system.start('work')
    await system.settle()
    await system.run(() => system.engine.cancel(run, 'ana', 'pause'))
    await system.settle()
    hangs = false
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'done' })
    await system.close()
  })

  test('[Q22] pg-boss#535: a run that stops every worker is quarantined, and the others continue', async () => {
    const functions = [
      fn('poison', {}, ({ step }) => step.run('hang', () => new Promise(() => {}))),
      fn('other', {}, ({ step }) => step.run('work', () => 'done')),
    ]
    const system = await startTestSystem({ name: 'poison', functions }, store())
    const poison = await system.start('poison')
    for (let deaths = 0; deaths < 5; deaths++) {
      await system.settle()
      await system.crash()
    }
    const other = await system.start('other')
    await system.settle()
    expect((await system.look(poison)).status).toBe('quarantined')
    expect(await system.look(other)).toMatchObject({ status: 'success', output: 'done' })
    await system.close()
  })

  test('[Q25] bullmq#3555: a manual retry resets the count of attempts', async () => {
    const attempts: number[] = []
    const flaky = fn('flaky', {}, ({ step }) =>
      step.run('try', ({ attempt }) => {
        attempts.push(attempt)
        if (attempts.length < 6) throw new Error('not yet')
        return 'done'
      }),
    )
    const system = await startTestSystem({ name: 'attempts', functions: [flaky] }, store())
    const run = await system.start('flaky')
    await system.advance('1h')
    expect((await system.look(run)).status).toBe('failed')
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.advance('1h')
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'done' })
    expect(attempts).toEqual([1, 2, 3, 4, 1, 2])
    await system.close()
  })

  test(`[Q28] restate#3217: of ${MANY} cancelled runs none is ever woken again`, async () => {
    const sleeper = fn('sleeper', {}, ({ step }) => step.sleep('long', '1h'))
    const system = await startTestSystem({ name: 'many', functions: [sleeper] }, store())
    const { engine } = system
    const runs = await system.run(() =>
      Promise.all(Array.from({ length: MANY }, () => engine.startRun('sleeper', null))),
    )
    await system.settle()
    await system.run(() => Promise.all(runs.map((run) => engine.cancel(run, 'ana', 'all of them'))))
    await system.settle()
    const claims = await system.store.ledger.claim({ worker: newWorker(), now: system.clock.now() + 1e12, limit: 10 })
    expect(claims).toEqual({ claims: [], nextDueAt: null })
    expect(await system.store.reader.counts(LOCAL_TENANT)).toEqual(new Map([['cancelled', MANY]]))
    await system.close()
  })
})

const systems = newSystems()
const one = (play: Play): readonly Planned[] => [{ play, errand: { id: 1, kind: 1 } }]

/** Starts the run, lets this many callbacks happen, sends its event, and runs everything to its end. */
const eventAfter = (callbacks: number, tape: Tape): Verdict & { readonly isOver: boolean } => {
  const theatre = new Theatre(tape, { systems, planned: () => one(early), crashes: [] })
  const { cast, errands, scheduler } = theatre
  let isOver = false
  const verdict = theatre.play(() => {
    cast.spawn()
    theatre.rest()
    errands.doOne()
    for (let i = 0; i < callbacks && !isOver; i++) {
      if (scheduler.readyCount > 0) scheduler.runReady(tape.below(scheduler.readyCount))
      else if (theatre.isQuiet()) isOver = true
      else theatre.wait()
    }
    errands.doOne()
    tape.end()
    theatre.calm()
  })
  return { ...verdict, isOver }
}

describe('known failures of similar systems, in every order', () => {
  test('[Q7][Q14][V17] inngest#1433, dbos-transact-ts#1165, trigger.dev#2295: an event is received, whenever it comes', async () => {
    let instants = 0
    for (let isOver = false; !isOver; instants++) {
      const verdict = await inMacrotask(() => eventAfter(instants, Tape.of([])))
      expect({ instants, violations: verdict.violations }).toEqual({ instants, violations: [] })
      isOver = verdict.isOver
    }
    // From before the first callback to long after the run has parked.
    expect(instants).toBeGreaterThan(30)
  })

  test.each([
    ['before the wait', 5],
    ['at the wait', 35],
    ['after the wait', 60],
  ])(`[Q7][V17] ${ORDERS} interleavings with the event %s`, async (_, callbacks) => {
    for (let seed = 1; seed <= ORDERS; seed++) {
      const verdict = await inMacrotask(() => eventAfter(callbacks, Tape.seeded(seed, 400)))
      expect({ seed, violations: verdict.violations }).toEqual({ seed, violations: [] })
    }
  })

  test('[Q24][R4] bullmq#3183, #3056: results of a worker that was unreachable for 60 s are fenced', async () => {
    const verdict = await inMacrotask(() => {
      const theatre = new Theatre(Tape.of([]), { systems, planned: () => one(sequence), crashes: [] })
      const { cast, errands, scheduler } = theatre
      return theatre.play(() => {
        cast.spawn()
        theatre.rest()
        errands.doOne()
        const [deaf] = cast.serving
        // Up to its second step, which takes 20 ms.
        while (deaf !== undefined && scheduler.readyCount > 0) scheduler.runReady(0)
        if (deaf !== undefined) scheduler.pause(deaf)
        cast.spawn()
        theatre.rest()
        scheduler.advanceTo(scheduler.now + 60_000)
        if (deaf !== undefined) scheduler.resume(deaf)
        theatre.calm()
      })
    })
    expect(verdict.violations).toEqual([])
    expect(verdict.fired.fenced).toBe(1)
  })

  test('[Q26] bullmq#4332: a parent notices children that end while it commits', async () => {
    for (let seed = 1; seed <= FAMILIES; seed++) {
      const verdict = await playTape(Tape.seeded(seed, 600), { systems, planned: () => [...one(family)] })
      expect({ seed, violations: verdict.violations }).toEqual({ seed, violations: [] })
    }
  })

  test('[Q31] graphile-worker 0.17.3: sequences beyond 2^31 work as any others', async () => {
    const store = new MemoryStore({ lastSequence: 2 ** 31 - 2 })
    const blobs = new MemoryBlobs()
    const place: TestStore = {
      name: 'memory beyond 2^31',
      open: async (clock) => ({
        ...openMemory(store, blobs),
        durable: true,
        pollMs: 1_000,
        sweepMs: null,
        commit: { maxBatch: 256, maxInFlight: 1 },
        dispatcher: new InProcessDispatcher(clock),
        description: 'memory',
      }),
      ids: () => new SystemIds(),
      remove: async () => {},
    }
    const wait = fn('wait', { trigger: 'begin' }, async ({ step, event }) => {
      const answer = await step.waitForEvent('go', { event: 'go', match: 'payload.id' })
      return [event?.sequence, answer.event?.sequence]
    })
    const system = await startTestSystem({ name: 'far', events: { go: null, begin: null }, functions: [wait] }, place)
    const { runs } = await system.send({ type: 'begin', data: { id: 1 } })
    await system.send({ type: 'go', data: { id: 2 } })
    await system.send({ type: 'go', data: { id: 1 } })
    await system.settle()
    const [run] = runs
    expect(run === undefined ? null : (await system.look(run)).output).toEqual([2 ** 31 - 1, 2 ** 31 + 1])
    await system.close()
  })
})
