/** Bulk jobs over HTTP: started, watched, refused. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

let app: HttpApp

beforeAll(async () => {
  app = await openApp({
    name: 'shop',
    functions: [
      fn('wait', {}, ({ step }) => step.sleep('nap', '1d')),
      fn('hold', {}, ({ step }) => step.sleep('nap', '1d')),
    ],
  })
})
afterAll(() => app.close())

const started = async (name: string): Promise<string> => {
  const { body } = await app.post('/api/runs', { name })
  await app.when(body.id, 'waiting')
  return body.id
}

const ended = async (id: string) =>
  (
    await until(
      () => app.ask(`/api/jobs/${id}`),
      ({ body }) => body.status === 'success',
      { what: `job ${id} has ended` },
    )
  ).body

test('[G12] a bulk command answers at once with the location of its job, which shows its progress', async () => {
  const runs = [await started('wait'), await started('wait')]
  const order = { action: 'pause', where: { handler: 'wait' }, reason: 'prices changed' }
  const { status, headers, body } = await app.post('/api/runs/bulk', order, { 'x-trihand-user': 'ana' })
  expect([status, headers.get('location')]).toEqual([202, `/api/jobs/${body.id}`])
  expect(body).toMatchObject({ action: 'pause', where: { handler: 'wait' }, reason: 'prices changed', by: 'ana' })
  expect(await ended(body.id)).toMatchObject({ total: 2, done: 2, failed: 0, failures: [], is_total_known: true })
  const paused = (await app.ask('/api/runs?status=paused')).body.items.map(({ id }: { id: string }) => id)
  expect(paused.toSorted()).toEqual(runs.toSorted())
  const short = body.id.slice(-8)
  expect((await app.ask(`/api/runs/${runs[0]}/why`)).body.text).toContain(
    `ana in job ${short} paused it (prices changed)`,
  )
  expect((await app.ask(`/api/jobs/${short}`)).body.id).toBe(body.id)
})

test('[G12] for named runs each refusal is reported with its code, and the job is listed as a run', async () => {
  const run = await started('hold')
  const nobody = `run_${'0'.repeat(32)}`
  const { body } = await app.post('/api/runs/bulk', { action: 'retry', ids: [run, nobody] })
  expect(body).toMatchObject({ where: null, total: 2, is_total_known: true })
  const { failures, ...job } = await ended(body.id)
  expect(job).toMatchObject({ total: 2, done: 0, failed: 2 })
  expect(failures.map(({ code, runs }: { code: string; runs: string[] }) => [code, runs])).toEqual([
    ['RUN_NOT_FAILED', [run]],
    ['NOT_FOUND', [nobody]],
  ])
  const listed = await app.ask('/api/runs?handler=trihand.bulk&limit=1')
  expect(listed.body.items[0].id).toBe(body.id)
})

test.each([
  [{ where: { status: 'waiting' } }, 'action must be a text'],
  [{ action: 'cancel' }, 'give either where or ids'],
  [{ action: 'cancel', where: {} }, 'where is empty'],
  [{ action: 'cancel', where: { state: 'waiting' } }, 'where has an unknown term state'],
  [{ action: 'cancel', where: 'waiting' }, 'where must be an object'],
  [{ action: 'cancel', ids: [7] }, 'ids must be a list of texts'],
  [{ action: 'cancel', ids: ['abcdef'] }, 'is not a full run id'],
  [{ action: 'cancel', ids: [], all: true }, 'the body has no member all'],
])('%j is refused', async (given, detail) => {
  const { status, body } = await app.post('/api/runs/bulk', given)
  expect([status, body.code]).toEqual([422, 'INPUT_INVALID'])
  expect(body.detail).toContain(detail)
})

test('a run that is not a job, and an unknown run, are not found as jobs', async () => {
  const run = await started('hold')
  for (const id of [run, 'ffffffff']) {
    const { status, body } = await app.ask(`/api/jobs/${id}`)
    expect([status, body.code]).toEqual([404, 'NOT_FOUND'])
  }
})
