/** Health of real processes: a server with a full disk, a read-only folder, the log on stderr. */
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { StorageFault } from '#test/chaos/power-cut/storage-fault.ts'
import { PROJECT } from '#test/support/places.ts'
import { compileShared } from '#test/support/project/compiler.ts'
import { buildCommand, Folder, type Server } from '#test/support/serving/command.ts'
import { SHOP } from '#test/support/shop.ts'
import { until } from '#test/support/until.ts'

let folder: Folder

beforeAll(buildCommand)
beforeEach(() => {
  folder = new Folder({ 'system.ts': SHOP })
})
afterEach(() => folder.remove())

const ready = async ({
  url,
}: Server): Promise<{ readonly status: number; readonly checks: Record<string, string> }> => {
  const response = await fetch(`${url}/health/ready`)
  return { status: response.status, checks: ((await response.json()) as { checks: Record<string, string> }).checks }
}

const send = ({ url }: Server): Promise<Response> =>
  fetch(`${url}/api/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'order.paid', data: { id: 'a' } }),
  })

const linesOf = ({ stderr }: Server): readonly Record<string, unknown>[] =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

test('[I5] log-1: readiness fails while the disk is full, every refusal is logged, and both recover without a restart (13.2.6)', async (context) => {
  const shim = join(folder.path, 'shim.so')
  const obstacle = compileShared(join(PROJECT, 'test/chaos/power-cut/shim.c'), shim)
  if (obstacle !== null) context.skip(obstacle)
  const fault = new StorageFault(join(folder.path, 'fault'))
  const env = { LD_PRELOAD: shim, TRIHAND_SHIM_LOG: join(folder.path, 'shim.log'), TRIHAND_SHIM_FAULT: fault.path }
  const server = await folder.serve(['dev', '--port', '0'], { env: { ...env, TRIHAND_LOG: 'warn' } })
  expect((await ready(server)).status).toBe(200)
  fault.set('disk_full')
  expect((await send(server)).status).toBe(507)
  expect(await ready(server)).toMatchObject({ status: 503, checks: { writes: 'STORAGE_FULL' } })
  fault.set('none')
  await until(
    () => ready(server),
    ({ status }) => status === 200,
    { what: 'it is ready again' },
  )
  expect((await send(server)).status).toBe(202)
  expect(linesOf(server)).toContainEqual(
    expect.objectContaining({ level: 'warn', code: 'STORAGE_FULL', given_back: 1, time: expect.any(String) }),
  )
  fault.close()
})

test('[I5] without TRIHAND_LOG nothing is logged; an unknown level is refused (13.2.6)', async () => {
  const server = await folder.serve(['dev', '--port', '0'])
  await send(server)
  await fetch(`${server.url}/nowhere`)
  expect(linesOf(server)).toEqual([])
  const { code, stderr } = await folder.run(['dev', '--port', '0'], { env: { TRIHAND_LOG: 'loud' } })
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('TRIHAND_LOG is "loud"; expected off, error, warn, info, debug'),
  ])
})

test('[I5] a read-only folder is reported with its name and a remedy (13.2.6)', async (context) => {
  // Root may write everywhere, so root gets a path where no folder can be made.
  const isRoot = process.getuid?.() === 0
  mkdirSync(join(folder.path, 'shut'))
  chmodSync(join(folder.path, 'shut'), 0o500)
  const place = isRoot ? '/sys/trihand' : join(folder.path, 'shut', 'data')
  if (isRoot && process.platform !== 'linux') context.skip('root may write everywhere')
  for (const env of [{ TRIHAND_DATA: place }, { DATABASE_URL: join(place, 'ledger.db') }]) {
    const { code, stderr } = await folder.run(['dev', '--port', '0'], { env })
    expect([code, stderr]).toEqual([6, expect.stringMatching(/^FOLDER_READ_ONLY .*(shut|sys).*\n.*\n$/)])
  }
})
