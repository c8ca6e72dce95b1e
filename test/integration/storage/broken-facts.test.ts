/** A ledger file that was changed outside the engine: the fate of the changed run, of its parent, and of all others. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { verifyLedger } from '#cli/verify/verify.ts'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { until } from '#test/support/until.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trihand-broken-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const paid: unknown[] = []

const pay = fn('pay', {}, async ({ step }) => {
  const amount = await step.run('amount', () => 10)
  await step.waitForEvent('go', { event: 'go', timeout: '1d' })
  return step.run('pay', () => paid.push(amount))
})
const parent = fn('parent', {}, ({ step }) => step.invoke('pay', 'pay'))

const system = { name: 'broken', events: { go: null }, functions: [pay, parent] }

const open = (): Promise<Trihand> => createTrihand({ system, database: join(folder, 'ledger.db'), drain: 0 })

const parked = (app: Trihand): Promise<unknown> =>
  until(
    async () => (await app.reader.counts(LOCAL_TENANT)).get('waiting') ?? 0,
    (count) => count >= 3,
  )

const tamper = (sql: string): void => {
  const db = new DatabaseSync(join(folder, 'ledger.db'))
  db.exec(sql)
  db.close()
}

test('[S20] broken-run-1: a run whose stored facts were changed is quarantined and never used; others continue (13.3.1)', async () => {
  const first = await open()
  const caller = await first.start('parent')
  const other = await first.start('pay')
  await parked(first)
  const [child] = await first.reader.children(LOCAL_TENANT, caller)
  await first.close()
  const key = `(select key from stream where hex(id) = upper('${child?.id.slice('run_'.length)}'))`
  tamper(`update fact set body = replace(body, '10', '1000000') where type = 'step.completed' and stream = ${key}`)

  const second = await open()
  await second.send({ type: 'go' })
  const broken = await second.result(child?.id ?? other, { wait: '10s' })
  expect(broken).toMatchObject({ status: 'quarantined', output: null, error: { code: 'FACT_BROKEN' } })
  expect(broken.error?.message).toContain('fact 1 (step.completed)')
  expect(await second.result(caller, { wait: '10s' })).toMatchObject({
    status: 'failed',
    error: { code: 'FACT_BROKEN' },
  })
  expect((await second.result(other, { wait: '10s' })).status).toBe('success')
  expect(paid).toEqual([10])
  await expect(second.retry(broken.run)).rejects.toMatchObject({ code: 'FACT_BROKEN' })
  await second.close()
  const { violations } = await verifyLedger({ file: join(folder, 'ledger.db') })
  expect(violations).toContainEqual(expect.objectContaining({ id: 'V3', stream: child?.id, seq: 1 }))

  // The restored run continues where it was.
  tamper(`update fact set body = replace(body, '1000000', '10') where type = 'step.completed' and stream = ${key}`)
  const third = await open()
  await third.retry(broken.run)
  expect((await third.result(broken.run, { wait: '10s' })).status).toBe('success')
  expect(paid).toEqual([10, 10])
  await third.close()
})
