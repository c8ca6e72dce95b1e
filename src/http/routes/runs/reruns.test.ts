/** Reruns over HTTP: the preview, the rerun, and what is refused. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'

let app: HttpApp
let old: string
let weighed = 0

beforeAll(async () => {
  app = await openApp({
    name: 'shop',
    events: { paid: null },
    functions: [
      fn('ship', { trigger: 'paid' }, async ({ input, step }) => {
        const weight = await step.run('weigh', () => ++weighed)
        await step.run('charge', () => 'ok', { effect: 'once' })
        return [weight, input]
      }),
    ],
  })
  old = await app.started('paid', { id: 'o-1' })
  await app.when(old, 'success')
})
afterAll(() => app.close())

test('a preview lists the steps that are reused, those that run again and those whose effect happens again', async () => {
  const { status, body } = await app.ask(`/api/runs/${old}/rerun?from=charge`)
  expect([status, body]).toEqual([
    200,
    {
      id: old,
      handler: 'ship',
      from: 'charge',
      input: { id: 'o-1' },
      reused: ['weigh'],
      again: [{ step: 'charge', once: true, asks: false, reusable: false }],
    },
  ])
})

test('a rerun answers the new run, whose facts name the old run and the reused steps', async () => {
  const { status, headers, body } = await app.post(`/api/runs/${old.slice(-8)}/rerun`, { from: 'charge' })
  expect([status, headers.get('location')]).toEqual([201, `/api/runs/${body.id}`])
  const run = await app.when(body.id, 'success')
  expect(run).toMatchObject({ handler: 'ship', output: [1, { id: 'o-1' }] })
  const { items } = (await app.ask(`/api/runs/${body.id}/facts`)).body
  expect(items.slice(0, 2).map(({ text }: { text: string }) => text)).toEqual([
    expect.stringContaining(`ran ${old} again from charge on`),
    `done in ${old}; the result is kept`,
  ])
})

test('a rerun without options repeats every step, and null is a valid input', async () => {
  const whole = await app.post(`/api/runs/${old}/rerun`, {})
  expect((await app.when(whole.body.id, 'success')).output).toEqual([2, { id: 'o-1' }])
  const given = await app.post(`/api/runs/${old}/rerun`, { from: 'charge', input: null })
  expect((await app.when(given.body.id, 'success')).output).toEqual([1, null])
})

test.each([
  [{ from: 'wiegh' }, 422, 'STEP_NOT_REACHED'],
  [{ from: 7 }, 422, 'INPUT_INVALID'],
  [{ reuse_decisions: 'yes' }, 422, 'INPUT_INVALID'],
  [{ step: 'weigh' }, 422, 'INPUT_INVALID'],
])('%j starts no rerun: %i %s', async (given, wanted, code) => {
  const { status, body } = await app.post(`/api/runs/${old}/rerun`, given)
  expect([status, body.code]).toEqual([wanted, code])
})
