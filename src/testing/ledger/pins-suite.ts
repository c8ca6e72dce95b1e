/** Ledger suite: which worker gets a run that is pinned to a version (ledger-10, model/worker/pin.ts). */
import { expect, test } from 'vitest'
import type { RunId, WorkerId } from '#model/kernel/ids.ts'
import { NO_VERSION, type Takeover } from '#model/worker/pin.ts'
import type { WorkerInfo } from '#model/worker/worker-info.ts'
import { aCreation, aWrite, newRun, newWorker, START } from './builders.ts'
import type { LedgerHarness } from './harness.ts'

const TTL = 15_000
const PIN_FOR = 60_000

const soft = (...handlers: readonly string[]): readonly Takeover[] =>
  handlers.map((handler) => ({ handler, afterMs: PIN_FOR, isFree: false }))

export const pinsSuite = (harness: LedgerHarness): void => {
  const create = async (
    version: string,
    handler = 'mail',
    more: Parameters<typeof aCreation>[1] = {},
  ): Promise<RunId> => {
    const run = newRun()
    await harness.written({ writes: [aCreation(run, { handler, systemHash: version, ...more })] })
    return run
  }
  const join = async (version: string, more: Partial<WorkerInfo> = {}): Promise<WorkerId> => {
    const worker = newWorker()
    const place = { name: version, pool: null, labels: {}, modules: null, slots: 1, startedAt: START, drains: false }
    await harness.ledger.beat({ worker, now: START, ttlMs: TTL, info: { ...place, version, ...more } })
    return worker
  }
  const claim = async (version: string, takesOver: readonly Takeover[], now = START, limit = 9) => {
    const { claims } = await harness.ledger.claim({ worker: newWorker(), now, limit, taker: { version, takesOver } })
    return claims.map(({ stream }) => stream)
  }

  test('ledger-10: a run is not handed to another version while a worker of its own version lives', async () => {
    await join('v1')
    const [old, fresh] = [await create('v1'), await create('v2')]
    expect(await claim('v2', soft('mail'))).toEqual([fresh])
    expect(await claim('v1', soft('mail'))).toEqual([old])
    expect(await harness.load(old)).toMatchObject({ systemHash: 'v1', bornHash: null })
  })

  test('ledger-10: once no worker of its version is left, a run goes to a version that has its handler, and remembers the version of its creation', async () => {
    const worker = await join('v1')
    const [mail, gone] = [await create('v1'), await create('v1', 'gone')]
    expect(await claim('v1', soft('mail'), START, 1)).toEqual([mail])
    await harness.written({ writes: [aWrite(mail, { release: true, wakeAt: START })] })
    await harness.ledger.retire(worker, START)
    expect(await claim('v2', soft('mail'))).toEqual([mail])
    expect(await harness.load(mail)).toMatchObject({ systemHash: 'v2', bornHash: 'v1' })
    expect(await harness.load(gone)).toMatchObject({ systemHash: 'v1', bornHash: null, lease: null })
    expect(await claim('v3', soft('mail', 'gone'))).toEqual([gone])
  })

  test('ledger-10, pin-5: a run without a worker so far starts with the version that takes it first', async () => {
    const run = await create('v1')
    expect(await claim('v2', soft('mail'))).toEqual([run])
    expect(await harness.load(run)).toMatchObject({ systemHash: 'v2', bornHash: null })
    await harness.written({ writes: [aWrite(run, { release: true, wakeAt: START })] })
    expect(await claim('v3', soft('mail'))).toEqual([run])
    expect(await harness.load(run)).toMatchObject({ systemHash: 'v3', bornHash: 'v2' })
  })

  test('ledger-10: a worker that drains, is paused or lacks the handler does not keep the runs of its version', async () => {
    await join('v1', { drains: true })
    await join('v1', { halt: 'paused' })
    await join('v1', { handlers: ['invoice'] })
    const [mail] = [await create('v1'), await create('v1', 'invoice')]
    expect(await claim('v2', soft('mail', 'invoice'))).toEqual([mail])
  })

  test('ledger-10: a run that is due for longer than its pin lasts is handed over while its version lives', async () => {
    await join('v1')
    const run = await create('v1')
    expect(await claim('v2', soft('mail'), START + PIN_FOR - 1)).toEqual([])
    expect(await claim('v2', soft('mail'), START + PIN_FOR)).toEqual([run])
  })

  test('ledger-10: without a list of handlers no run of another version is claimed, even by name', async () => {
    const [old, fresh] = [await create('v1'), await create('v2')]
    const ask = { worker: newWorker(), now: START, limit: 9, taker: { version: 'v2' } }
    expect((await harness.ledger.claim({ ...ask, only: [old] })).claims).toEqual([])
    expect((await harness.ledger.claim(ask)).claims).toMatchObject([{ stream: fresh }])
  })

  test('ledger-10: a run without a version stays without one for a handler that is free of versions', async () => {
    const run = await create(NO_VERSION)
    const { claims } = await harness.ledger.claim({
      worker: newWorker(),
      now: START,
      limit: 9,
      handlers: ['mail'],
      taker: { version: NO_VERSION },
    })
    expect(claims.map(({ stream }) => stream)).toEqual([run])
    expect(await harness.load(run)).toMatchObject({ systemHash: NO_VERSION, bornHash: null })
  })

  test('ledger-10: runs that no version can take block no other runs, also in lanes, and are taken once a version can', async () => {
    const foreign = []
    for (let i = 0; i < 30; i++) foreign.push(await create('v1', 'gone', i % 2 === 0 ? {} : { priority: 5 }))
    const own = await create('v2')
    expect(await claim('v2', soft('mail'), START, 1)).toEqual([own])
    expect(await claim('v2', soft('mail'))).toEqual([])
    expect((await claim('v3', soft('gone'), START, 99)).sort()).toEqual([...foreign].sort())
  })

  test('ledger-10: a run that was handed over continues under its new version', async () => {
    const run = await create('v1')
    expect(await claim('v2', soft('mail'))).toEqual([run])
    await harness.written({ writes: [aWrite(run, { release: true, wakeAt: START })] })
    await join('v2')
    expect(await claim('v1', soft('mail'))).toEqual([])
    expect(await claim('v2', soft('mail'))).toEqual([run])
  })
}
