/** Signals sent to this test process. */
import { afterEach, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'
import { SignalSource } from './signal.ts'
import type { SourceDeps } from './source.ts'

const survive = (): void => undefined
afterEach(() => process.off('SIGUSR2', survive))

test('[L4] each SIGUSR2 starts a function, until the system is closed', async () => {
  const app = await openApp({
    name: 'signals',
    functions: [fn('reload', { trigger: { signal: 'SIGUSR2' } }, ({ input }) => input)],
  })
  const done = async (): Promise<number> => (await app.trihand.reader.counts(LOCAL_TENANT)).get('success') ?? 0
  for (const count of [1, 2]) {
    process.kill(process.pid, 'SIGUSR2')
    await until(done, (found) => found === count, { what: `${count} runs are done` })
  }
  const [event] = await app.trihand.reader.events({ tenant: LOCAL_TENANT, type: null, before: null, limit: 1 })
  expect(event).toMatchObject({ source: 'signal:SIGUSR2', data: { signal: 'SIGUSR2', pid: process.pid } })
  process.on('SIGUSR2', survive)
  await app.close()
  expect(process.listeners('SIGUSR2')).toEqual([survive])
})

test('a source may be started twice and stopped twice: it listens once, and then no longer', async () => {
  const definition = { kind: 'signal', name: 'signal:SIGUSR2', signal: 'SIGUSR2' } as const
  const source = new SignalSource(definition, {} as SourceDeps)
  await source.stop()
  const before = process.listenerCount('SIGUSR2')
  await source.start()
  await source.start()
  expect(process.listenerCount('SIGUSR2')).toBe(before + 1)
  await source.stop()
  await source.stop()
  expect(process.listenerCount('SIGUSR2')).toBe(before)
})
