/** Workers as processes of their own on one Postgres ledger: joined, listed, drained, stopped. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildCommand, Folder, type Server } from '#test/support/serving/command.ts'
import { SHOP } from '#test/support/shop.ts'
import { ask, type FreshSchema, freshSchema } from '#test/support/stores/postgres-schema.ts'
import { until } from '#test/support/until.ts'

const cluster = process.env['TRIHAND_TEST_PG_URL'] ?? ''

describe.skipIf(cluster === '')('workers on Postgres', () => {
  let folder: Folder
  let place: FreshSchema
  let env: { readonly DATABASE_URL: string }

  beforeAll(buildCommand)
  beforeEach(async () => {
    folder = new Folder({ 'system.ts': SHOP })
    place = await freshSchema(cluster)
    env = { DATABASE_URL: place.url }
  })
  afterEach(async () => {
    await folder.remove()
    await place.drop()
  })

  const begin = (...args: string[]): Promise<Server> => folder.serve(['worker', ...args], { env })
  const serve = (): Promise<Server> => folder.serve(['dev', '--port', '0', '--no-work'], { env })
  const documents = (server: Server): readonly Record<string, unknown>[] =>
    server.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  const traces = (): readonly string[] => {
    const file = join(folder.path, 'trace.txt')
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  }
  const workers = async () => (await folder.json(['workers', 'list'], { env })).items

  test('[N5][N10] a server without executors leaves the work to a worker in another process', async () => {
    await serve()
    const worker = await begin('--name', 'ada', '--labels', 'region=eu,gpu=no', '--slots', '3')
    const { results } = await folder.json(['send', 'order.placed', '{"id":"a"}', '--wait', '20s'], { env })
    expect(results[0]).toMatchObject({ status: 'success', output: { weight: 7 } })
    expect(traces()).toEqual(['box'])
    expect(documents(worker)[0]).toMatchObject({ type: 'ready', name: 'ada', pool: null, slots: 3, ledger: 'postgres' })
    expect((await folder.json(['verify'], { env })).status).toBe('clean')
  })

  test('[N5][I5] a worker serves health and metrics on its own port, and counts its work beside a server (13.2.6)', async () => {
    await serve()
    const worker = await begin('--name', 'ada', '--port', '0')
    await folder.json(['send', 'order.placed', '{"id":"a"}', '--wait', '20s'], { env })
    const health = await fetch(`${worker.url}/health`)
    expect([health.status, await health.json()]).toEqual([200, expect.objectContaining({ status: 'ok' })])
    const metrics = await (await fetch(`${worker.url}/metrics`)).text()
    expect(metrics).toContain('trihand_runs_ended_total{handler="pack",status="success"} 1')
    expect(metrics).toMatch(/^trihand_steps_total\{modality="workflow",status="success"\} \d/m)
    expect(metrics).toMatch(/^trihand_wake_lag_seconds_count [1-9]/m)
  })

  test('[N5][I5] a server whose workers were all killed is not ready and counts none, and is ready when one is back (13.2.6)', async () => {
    const server = await serve()
    const workersOf = async (): Promise<unknown> => {
      const metrics = await (await fetch(`${server.url}/metrics`)).text()
      return /^trihand_workers\{pool="default",state="working"\} (\d+)$/m.exec(metrics)?.[1]
    }
    const ready = async () => {
      const response = await fetch(`${server.url}/health/ready`)
      return [response.status, ((await response.json()) as { checks: { workers: string } }).checks.workers]
    }
    expect(await ready()).toEqual([503, 'NO_WORKER'])
    const worker = await begin('--name', 'ada')
    expect(await ready()).toEqual([200, 'ok'])
    await worker.stop('SIGKILL')
    // Half a minute later its row is still there, without a new heartbeat.
    await ask(place.url, 'update worker set beat_at = beat_at - 31000')
    expect(await ready()).toEqual([503, 'NO_WORKER'])
    expect(await until(workersOf, (count) => count === '0', { what: 'the metrics count none' })).toBe('0')
    await begin('--name', 'bob')
    expect(await ready()).toEqual([200, 'ok'])
    expect(await until(workersOf, (count) => count === '1', { what: 'the metrics count one' })).toBe('1')
  })

  test('[N4][I5] a worker is listed with its labels and its leases while it lives, and not after it stopped', async () => {
    await serve()
    const worker = await begin('--name', 'ada', '--labels', 'region=eu,gpu=no', '--slots', '3')
    // At first it also holds the streams of the definition: schedules, gates.
    const [ada, another] = await until(workers, ([one]) => one?.leases === 0, { what: 'the worker has begun' })
    expect(another).toBeUndefined()
    expect(ada).toMatchObject({ name: 'ada', status: 'working', labels: { region: 'eu', gpu: 'no' }, slots: 3 })
    const { runs } = await folder.json(['send', 'order.slow'], { env })
    await until(traces, (lines) => lines.includes('lift'), { what: 'the step is at work' })
    expect(await folder.json(['workers', 'show', 'ada'], { env })).toMatchObject({ leases: 1, runs: [{ id: runs[0] }] })
    expect((await worker.stop()).code).toBe(0)
    expect(await workers()).toEqual([])
    const { code, stderr } = await folder.run(['workers', 'show', 'ada'], { env })
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^NOT_FOUND there is no worker ada\n/)])
  })

  test('[I6] SIGTERM lets the active step finish, releases the leases and reports that', async () => {
    await serve()
    const worker = await begin()
    await folder.json(['send', 'order.slow'], { env })
    await until(traces, (lines) => lines.includes('lift'), { what: 'the step is at work' })
    expect(await worker.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' })
    expect(traces()).toEqual(['lift', 'down'])
    expect(documents(worker).map(({ type }) => type)).toEqual(expect.arrayContaining(['ready', 'draining', 'stopped']))
    expect((await folder.json(['runs', 'list'], { env })).items[0].status).toBe('success')
  })

  test('[I6] a second signal does not wait', async () => {
    folder.write('heavy.txt', '')
    await serve()
    const worker = await begin()
    await folder.json(['send', 'order.slow'], { env })
    await until(traces, (lines) => lines.includes('lift'), { what: 'the step is at work' })
    let isOver = false
    void worker.ended.then(() => {
      isOver = true
    })
    await until(
      () => worker.signal('SIGTERM'),
      () => isOver,
      { what: 'it ends' },
    )
    expect((await worker.ended).code).toBe(130)
  })

  test('[I6] a drain command reaches a worker in another process: it finishes its runs and leaves', async () => {
    await serve()
    const [first, second] = [await begin('--name', 'ada'), await begin('--name', 'bob')]
    await folder.json(['workers', 'drain', 'ada'], { env })
    expect(await first.ended).toMatchObject({ code: 0 })
    expect(documents(first).find(({ type }) => type === 'draining')).toMatchObject({ why: 'order' })
    expect((await workers()).map(({ name }: { name: string }) => name)).toEqual(['bob'])
    const { results } = await folder.json(['send', 'order.placed', '{"id":"a"}', '--wait', '20s'], { env })
    expect(results[0].status).toBe('success')
    expect((await second.stop()).code).toBe(0)
  })

  test.each([
    [['--pool', 'mail'], 'CONFIG_INVALID there is no pool mail; the system has none'],
    [['--labels', 'region'], 'CONFIG_INVALID "region" is not a label'],
    [['--slots', '0'], 'CONFIG_INVALID'],
  ])('%j is refused with a code', async (args, problem) => {
    const { code, stderr } = await folder.run(['worker', ...args], { env })
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)])
  })

  test('a worker with Inngest as dispatcher is refused with a code, because it has no address for Inngest to call (15.5.3)', async () => {
    const inngest = { TRIHAND_DISPATCHER: 'inngest', TRIHAND_DISPATCHER_KEY: 'signkey-test-0123' }
    const { code, stderr } = await folder.run(['worker'], { env: { ...env, ...inngest } })
    expect([code, stderr]).toEqual([2, expect.stringContaining('CONFIG_INVALID Inngest calls a server by its address')])
  })
})
