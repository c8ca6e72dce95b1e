/** The result of a drafted plan after a person's "no": in its output, its timeline, its steps and its why, over HTTP. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'

let app: HttpApp
const done: string[] = []
beforeEach(async () => {
  done.length = 0
  const noting = (name: string) => fn(name, {}, () => void done.push(name))
  app = await openApp({ name: 'shop', functions: [noting('pay'), noting('mail'), noting('tell')] })
})
afterEach(() => app.close())

const ana = { 'x-trihand-user': 'ana' }
const STEPS = [
  {
    id: 'ok',
    name: 'Pay the invoice?',
    type: 'decision',
    human_config: { assign: 'user:ana', allowed_actions: ['approve', 'reject', 'request_edit'] },
  },
  { id: 'pay', assigned_to: 'pay', requires: ['ok'] },
  { id: 'mail', assigned_to: 'mail', requires: ['pay'] },
  { id: 'tell', assigned_to: 'tell', requires: ['ok'], on_reject: 'continue' },
]

test('[C5] a drafted plan names the skipped steps and the rejection that caused it: in output, timeline, step and why (13.1.1)', async () => {
  const { body: plan } = await app.post('/api/plans', { steps: STEPS })
  expect(plan.errors).toEqual([])
  const at = `/api/plans/${plan.id}`
  await app.post(`${at}/approve`, { hash: plan.hash }, ana)
  const { body: run } = await app.post(`${at}/runs`, {})
  await app.when(run.id, 'waiting')
  const [task] = (await app.ask('/api/tasks', { headers: ana })).body.items
  const { body: shown } = await app.ask(`/api/tasks/${task.id}`, { headers: ana })
  const decision = { action: 'reject', reason: 'too dear', shown_hash: shown.shown_hash }
  expect((await app.post(`/api/tasks/${task.id}/decision`, decision, ana)).status).toBe(200)
  await app.when(run.id, 'partial')
  expect(done).toEqual(['tell'])
  const reason = 'ana rejected "Pay the invoice?": too dear'
  const { body: detail } = await app.ask(`/api/runs/${run.id}`)
  expect(detail).toMatchObject({
    skipped: [
      { step: 'pay', because: 'ok', reason },
      { step: 'mail', because: 'ok', reason },
    ],
    output: {
      steps: {
        ok: { status: 'rejected', output: { decision: 'reject', feedback: 'too dear', decided_by: 'ana' }, reason },
        pay: { status: 'skipped', because: 'ok', reason },
        tell: { status: 'success' },
      },
    },
  })
  const { body: why } = await app.ask(`/api/runs/${run.id}/why`)
  expect(why.text).toBe(`It does not wait: it has ended (partial). Skipped: pay, mail (${reason}).`)
  const { body: timeline } = await app.ask(`/api/runs/${run.id}/timeline`)
  const marks = timeline.items.filter(({ becomes }: { becomes?: string }) => becomes === 'skipped')
  expect(marks).toMatchObject([
    { step: 'pay', text: `skipped: ${reason}` },
    { step: 'mail', text: `skipped: ${reason}` },
  ])
  const { body: step } = await app.ask(`/api/runs/${run.id}/step?name=pay`)
  expect(step).toMatchObject({ output: { status: 'skipped', because: 'ok', reason } })
})
