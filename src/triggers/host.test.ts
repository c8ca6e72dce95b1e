/** Replacing a definition: which sources keep running, which stop, and what happens when a source cannot start. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { WatchTrigger } from '#model/event/watch.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

const system = (...triggers: readonly WatchTrigger[]) => ({
  name: 'x',
  functions: triggers.map((trigger, i) => fn(`f${i}`, { trigger }, () => i)),
})

let app: HttpApp
let before: number
beforeEach(async () => {
  before = process.listenerCount('SIGHUP')
  app = await openApp(system({ signal: 'SIGHUP' }))
})
afterEach(() => app.close())

const listening = (): number => process.listenerCount('SIGHUP') - before

test('a new definition keeps the sources that it still names and stops the others', async () => {
  await app.trihand.replace(system({ signal: 'SIGHUP' }, { condition: 'runs.queued > 100' }))
  expect(listening()).toBe(1)
  await app.trihand.replace(system())
  expect(listening()).toBe(0)
})

test('a definition with a source that cannot start is refused as a whole, and the one before stays in force', async () => {
  const database = 'nowhere.db'
  const next = system({ condition: 'runs.queued > 100' }, { table: 'a', database })
  await expect(app.trihand.replace(next)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  expect(listening()).toBe(1)
  expect([...app.trihand.system.sources.keys()]).toEqual(['signal:SIGHUP'])
  process.kill(process.pid, 'SIGHUP')
  const done = async (): Promise<number> => (await app.trihand.reader.counts(LOCAL_TENANT)).get('success') ?? 0
  await until(done, (count) => count === 1, { what: 'the signal is heard' })
})

test('a webhook whose secret is not set is refused at the start', async () => {
  const secret = ['$', '{TRIHAND_TEST_NO_SUCH_SECRET}'].join('')
  const source = { name: 'x', webhooks: [{ name: 'pay', emits: 'paid', secret }] }
  await expect(openApp(source)).rejects.toMatchObject({ code: 'ENV_MISSING' })
  const bad = { name: 'x', webhooks: [{ name: 'pay', emits: 'paid', secret: 'not base64!' }] }
  await expect(openApp(bad)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})
