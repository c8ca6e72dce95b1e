/** Which process performs a run: one of the pool and with the labels that its function needs, among several processes on one ledger. */
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createTrihand, type Trihand, type TrihandOptions } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { defineSystem } from '#manifest/define/define.ts'
import { fastFolder } from '#test/support/places.ts'

const folder = fastFolder('placement')
afterEach(() => folder.remove())

const SYSTEM = defineSystem({
  name: 'studio',
  pools: [{ name: 'gpu' }],
  functions: [
    fn('render', { pool: 'gpu' }, () => 'rendered'),
    fn('store', { placement: { require: { region: 'eu' } } }, () => 'stored'),
    fn('plain', {}, () => 'done'),
  ],
})

const open = (place: Pick<TrihandOptions, 'pool' | 'labels'>): Promise<Trihand> =>
  createTrihand({ system: SYSTEM, database: join(folder.path, 'ledger.db'), drain: 100, ...place })

test('[N7] a run waits for a process of its pool or with its label, and other runs pass it (15.4.2)', async () => {
  const first = await open({ labels: { region: 'us' } })
  const [render, store] = [await first.start('render'), await first.start('store')]
  expect((await first.call('plain')).output).toBe('done')
  expect((await first.result(render, { wait: 0 })).status).toBe('queued')
  expect((await first.result(store, { wait: 0 })).status).toBe('queued')
  await first.close()
  const european = await open({ labels: { region: 'eu' } })
  expect((await european.result(store)).output).toBe('stored')
  expect((await european.result(render, { wait: 0 })).status).toBe('queued')
  await european.close()
  const gpu = await open({ pool: 'gpu' })
  expect((await gpu.result(render)).output).toBe('rendered')
  await gpu.close()
})
