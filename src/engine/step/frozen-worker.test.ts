/**
 * A worker stands still in the middle of a `once` effect while another worker takes its run over: two engines on one in-memory ledger,
 * each with its own clock. A worker is frozen while the test does not move its clock.
 */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryReader } from '#adapters/storage/memory/reader.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT, type TaskId } from '#model/kernel/ids.ts'
import type { StepContext } from '#ports/step-port.ts'
import { engineOf } from '#test/support/engine.ts'
import { carefully, operator } from '#test/support/step-answer.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

const LEASE_MS = 15_000
const TIMEOUT_MS = 60_000
const ASK_MS = LEASE_MS + TIMEOUT_MS

interface Attempt {
  readonly context: StepContext
  readonly answer: (result: string) => void
  readonly fail: (error: Error) => void
}

const order = (attempts: Attempt[]) =>
  fn('order', {}, ({ step }) =>
    step.run('pay', (context) => new Promise<string>((answer, fail) => void attempts.push({ context, answer, fail })), {
      effect: 'once',
      timeout: TIMEOUT_MS,
      input: { amount: 100, to: 'ben' },
      target: 'payments.example.com',
    }),
  )

const open = (store: MemoryStore, attempts: Attempt[], clock: VirtualClock) => {
  const source = { name: 'shop', functions: [order(attempts)] }
  const worker = { leaseTtlMs: LEASE_MS, sweepMs: 1_000, pollMs: 1_000 }
  return engineOf({ ledger: new MemoryLedger(store), clock, source, worker })
}

/** Worker one has begun the payment and is frozen; worker two keeps working. */
const freeze = async () => {
  const store = new MemoryStore()
  const attempts: Attempt[] = []
  const [frozen, alive] = [new VirtualClock(1_000_000), new VirtualClock(1_000_000)]
  const one = open(store, attempts, frozen)
  const two = open(store, attempts, alive)
  void one.start()
  await frozen.advance(0)
  const starting = one.startRun('order', { customer: 7 })
  await frozen.advance(0)
  void two.start()
  await alive.advance(0)
  return { store, attempts, one, two, frozen, alive, run: await starting }
}

type Frozen = Awaited<ReturnType<typeof freeze>>

/** The frozen process continues after `ms`: all its timers are late, and its clock has jumped. */
const thaw = async ({ frozen }: Frozen, ms: number): Promise<void> => {
  frozen.at(frozen.now() + ms, () => {})
  const pending = frozen.pending()
  await frozen.fire(pending.findIndex(({ at }) => at === frozen.now() + ms))
}

const asked = (store: MemoryStore) =>
  new MemoryReader(store).tasks({
    ...{ tenant: LOCAL_TENANT, isOpen: true, addresses: null, viewer: null, status: null, type: null, claimedBy: null },
    ...{ run: null, order: 'oldest', after: null, limit: 9 },
  })

const look = async ({ two, alive }: Frozen, task: TaskId) => {
  const shown = two.tasks.show(task)
  await alive.advance(0)
  const { state } = await shown
  if (state.kind !== 'open') throw new Error('the task is closed')
  const again = state.spec.actions.find(({ name }) => name === 'run_again')
  return { state, warning: again?.warning, evidence: state.spec.sections[0]?.content as Record<string, unknown> }
}

const say = async ({ two, alive }: Frozen, task: TaskId, decision: Parameters<typeof two.tasks.submit>[2]) => {
  const said = two.tasks.submit(task, operator('ana'), decision)
  said.catch(() => {})
  await alive.advance(0)
  await said
  await alive.advance(1_000)
}

const onlyTask = async ({ store }: Frozen): Promise<TaskId> => {
  const [task] = await asked(store)
  if (task === undefined) throw new Error('no question is asked')
  return task.id
}

test('[R6] uncertain-1: people are asked after the lease and the timeout of the step have passed, and not before (13.1.6)', async () => {
  const all = await freeze()
  await all.alive.advance(ASK_MS - 1)
  expect(await asked(all.store)).toEqual([])
  const early = expect(all.two.tasks.ofStep(all.run, 'pay')).rejects.toMatchObject({ code: 'STEP_AT_WORK' })
  await all.alive.advance(0)
  await early
  await all.alive.advance(1_001)
  expect(await asked(all.store)).toMatchObject([{ step: 'pay', addresses: ['group:operators'] }])
})

test('[R6] the question shows the input of the step, its target and its worker (13.1.6)', async () => {
  const all = await freeze()
  await all.alive.advance(ASK_MS + 1_000)
  const { evidence, state } = await look(all, await onlyTask(all))
  expect(evidence).toMatchObject({
    ...{
      step: 'pay',
      input: { amount: 100, to: 'ben' },
      target: 'payments.example.com',
      first_attempt: 'It may still act.',
    },
    idempotency_key: all.attempts[0]?.context.effectKey,
  })
  expect(state.spec.cause).toBe(`worker ${evidence['worker']}`)
})

test('[R6] uncertain-2 task-8: while the first attempt may still act, run_again needs the acknowledged warning and the typed step name (13.1.6)', async () => {
  const all = await freeze()
  await all.alive.advance(ASK_MS + 1_000)
  const task = await onlyTask(all)
  const { state, warning } = await look(all, task)
  expect(warning).toMatch(/may still carry out the first attempt.*the effect happens twice/)
  const careful = { action: 'run_again', ...carefully(state, 'run_again') }
  const unread = say(all, task, { ...careful, acknowledged: false })
  await expect(unread).rejects.toMatchObject({ code: 'WARNING_NOT_ACKNOWLEDGED', detail: warning })
  await expect(say(all, task, { ...careful, confirm: 'yes' })).rejects.toMatchObject({ code: 'CONFIRMATION_REQUIRED' })
  await say(all, task, careful)
  expect(all.attempts).toHaveLength(2)
  const [record] = await new MemoryLedger(all.store).load([all.run])
  const resolved = record?.facts.find(({ type }) => type === 'step.resolved')
  expect(resolved?.body).toContain('"warned":true')
})

test('[R6] late-result-1: the late answer of a frozen worker is added to the task as evidence and removes the warning (13.1.6)', async () => {
  const all = await freeze()
  await all.alive.advance(ASK_MS + 1_000)
  const task = await onlyTask(all)
  const before = await look(all, task)
  all.attempts[0]?.answer('receipt 12')
  await thaw(all, ASK_MS + 1_000)
  await all.frozen.advance(0)
  const { state, warning, evidence } = await look(all, task)
  expect(evidence).toMatchObject({ late_result: { result: 'receipt 12' }, first_attempt: 'It has ended.' })
  expect([warning, state.hash === before.state.hash]).toEqual([undefined, false])
  const stale = say(all, task, { action: 'run_again', ...carefully(before.state, 'run_again') })
  await expect(stale).rejects.toMatchObject({ code: 'STALE_VIEW' })
  await say(all, task, { action: 'it_happened', ...carefully(state, 'it_happened') })
  const found = all.two.look(all.run)
  await all.alive.advance(0)
  // The person gave no result, so the late answer of the worker is the result.
  expect(await found).toMatchObject({ status: 'success', output: 'receipt 12' })
})

test('[R6] a late answer that arrives before the task is opened is part of the task from the start (13.1.6)', async () => {
  const all = await freeze()
  await all.alive.advance(LEASE_MS + 2_000)
  all.attempts[0]?.fail(new Error('connection reset'))
  await thaw(all, LEASE_MS + 2_000)
  await all.frozen.advance(0)
  await all.alive.advance(1_000)
  const { warning, evidence } = await look(all, await onlyTask(all))
  expect(warning).toBeUndefined()
  expect(evidence).toMatchObject({ late_result: { error: { code: 'FUNCTION_FAILED' } } })
})

test('[R6] uncertain-3: a second task warns of a first attempt that is still frozen, until that attempt answers (13.1.6)', async () => {
  const all = await freeze()
  await all.alive.advance(ASK_MS + 1_000)
  const first = await onlyTask(all)
  const { state, evidence: before } = await look(all, first)
  await say(all, first, { action: 'run_again', ...carefully(state, 'run_again') })
  all.attempts[1]?.fail(new Error('connection reset'))
  await all.alive.advance(1_000)
  const second = await onlyTask(all)
  expect(second).not.toBe(first)
  const shown = await look(all, second)
  expect(shown.evidence).toMatchObject({ first_attempt: 'It has ended.', earlier_attempts: [before['worker']] })
  expect(shown.warning).toContain(
    `Worker ${before['worker']} has not reported back and may still carry out an earlier attempt`,
  )
  const careful = { action: 'run_again', ...carefully(shown.state, 'run_again') }
  await expect(say(all, second, { ...careful, acknowledged: false })).rejects.toMatchObject({
    code: 'WARNING_NOT_ACKNOWLEDGED',
  })
  all.attempts[0]?.answer('receipt 12')
  await thaw(all, ASK_MS + 3_000)
  await all.frozen.advance(0)
  const after = await look(all, second)
  expect(after.warning).toBeUndefined()
  expect(after.evidence).toMatchObject({ earlier_attempts: [], first_attempt: 'It has ended.' })
  await expect(say(all, second, careful)).rejects.toMatchObject({ code: 'STALE_VIEW' })
})

test('[R6] leases-3: a worker that stood still learns from stillMine that another worker took its run (13.1.6)', async () => {
  const all = await freeze()
  const { context } = all.attempts[0] as Attempt
  expect(await context.stillMine()).toBe(true)
  await all.alive.advance(LEASE_MS + 2_000)
  await thaw(all, LEASE_MS + 2_000)
  const mine = context.stillMine()
  await all.frozen.advance(0)
  expect([await mine, context.signal.aborted]).toEqual([false, true])
})

test('[R6] standstill-1: a worker that stood still aborts its once attempts with its first heartbeat (13.1.6)', async () => {
  const all = await freeze()
  const { context } = all.attempts[0] as Attempt
  const { signal } = context
  await thaw(all, LEASE_MS)
  expect(signal.aborted).toBe(false)
  await all.frozen.advance(0)
  expect(signal.aborted).toBe(true)
})

test('[R6] a worker that stood still for a moment and kept its lease continues its effect (13.1.6)', async () => {
  const all = await freeze()
  const { context, answer } = all.attempts[0] as Attempt
  await thaw(all, LEASE_MS / 2)
  await all.frozen.advance(0)
  expect(await context.stillMine()).toBe(true)
  answer('receipt 1')
  await all.frozen.advance(1_000)
  const found = all.one.look(all.run)
  await all.frozen.advance(0)
  expect(await found).toMatchObject({ status: 'success', output: 'receipt 1' })
})

test('[R6] late-result-1: the task shows an attempt as ended if its code stops when stillMine is false (13.1.6)', async () => {
  const all = await freeze()
  const { context, fail } = all.attempts[0] as Attempt
  await all.alive.advance(ASK_MS + 1_000)
  const task = await onlyTask(all)
  await thaw(all, ASK_MS + 1_000)
  void context.stillMine().then((isMine) => fail(new Error(`mine: ${isMine}`)))
  await all.frozen.advance(0)
  const { warning, evidence } = await look(all, task)
  expect(warning).toBeUndefined()
  expect(evidence).toMatchObject({ late_result: { error: { message: 'mine: false' } }, first_attempt: 'It has ended.' })
})
