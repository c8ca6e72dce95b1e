/** Runs over HTTP: started, found by the ways people write ids, shown, and given commands. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'

const OPERATOR = { 'x-trihand-user': 'ana', 'x-trihand-groups': 'operators' }

let app: HttpApp
let isHealed = false

beforeAll(async () => {
  app = await openApp({
    name: 'shop',
    events: { 'order.placed': null, 'order.paid': null },
    functions: [
      fn('weigh', {}, async ({ step }) => step.run('scale', () => 7)),
      fn('ship', { trigger: 'order.placed' }, async ({ step }) => {
        const weight = await step.invoke('weight', 'weigh')
        const paid = await step.waitForEvent('payment', { event: 'order.paid', match: 'payload.id', timeout: '1h' })
        return { weight, paid: paid.status }
      }),
      fn('pay', {}, async ({ step }) =>
        step.run('charge', () => Promise.reject(new Error('the line went dead')), { effect: 'once' }),
      ),
      fn('mend', { retry: { maxAttempts: 1 } }, async ({ step }) =>
        step.run(
          'glue',
          () => {
            if (!isHealed) throw new Error('it broke')
            return 'whole'
          },
          { retry: { maxAttempts: 1 } },
        ),
      ),
    ],
  })
})
afterAll(() => app.close())

const waiting = async (id: string): Promise<string> => {
  const run = await app.started('order.placed', { id })
  await app.when(run, 'waiting')
  // The child has ended when the run waits for the payment.
  await expect.poll(async () => (await app.ask(`/api/runs/${run}`)).body.waiting_on[0]?.kind).toBe('waiting')
  return run
}

describe('starting and showing', () => {
  test('[L2][L10] a function is started by name, and its result is shown when it ends', async () => {
    const { status, headers, body } = await app.post('/api/runs', { name: 'weigh', input: { id: 1 } })
    expect(status).toBe(201)
    expect(headers.get('location')).toBe(`/api/runs/${body.id}`)
    const run = await app.when(body.id, 'success')
    expect(run).toMatchObject({ handler: 'weigh', status: 'success', output: 7, error: null, waiting_on: [] })
  })

  test.each([
    [{ name: 'nothing' }, 404, 'NOT_FOUND'],
    [{ input: 1 }, 422, 'INPUT_INVALID'],
    [{ name: 'weigh', args: [] }, 422, 'INPUT_INVALID'],
    [{ name: 'weigh', callback_url: 'nowhere' }, 422, 'INPUT_INVALID'],
    [{ name: 'weigh', callback_url: 'https://asker.test' }, 422, 'CALLBACK_UNSIGNED'],
  ])('%j starts no run: %i %s', async (given, wanted, code) => {
    const { status, body } = await app.post('/api/runs', given)
    expect([status, body.code]).toEqual([wanted, code])
  })

  test('a run shows its facts as text, its children and what it waits for', async () => {
    const run = await waiting('show')
    const { body } = await app.ask(`/api/runs/${run}`)
    expect(body.facts.items.map((fact: { step: string | null; text: string }) => [fact.step, fact.text])).toEqual([
      [null, 'an event started ship'],
      ['weight', `called weigh as ${body.children[0].id}`],
      ['weight', `${body.children[0].id} completed`],
      ['payment', expect.stringMatching(/^waits for order\.paid with id = "show", until \d{4}-/)],
    ])
    expect(body.children).toEqual([expect.objectContaining({ handler: 'weigh', status: 'success', parent_id: run })])
    expect(body.waiting_on).toEqual([
      {
        kind: 'waiting',
        step: 'payment',
        until: body.wake_at,
        text: expect.stringMatching(/^an event: order\.paid with id = "show"/),
      },
    ])
  })

  test('facts are paged without a gap or a repeat', async () => {
    const run = await waiting('paged')
    const first = (await app.ask(`/api/runs/${run}/facts?limit=3`)).body
    const rest = (await app.ask(`/api/runs/${run}/facts?limit=3&cursor=${first.next_cursor}`)).body
    expect([...first.items, ...rest.items].map((fact) => fact.seq)).toEqual([0, 1, 2, 3])
    expect(rest.next_cursor).toBeNull()
  })

  test('a list is filtered by status and function, and paged without repeats', async () => {
    await waiting('list-1')
    await waiting('list-2')
    const first = (await app.ask('/api/runs?status=waiting&handler=ship&limit=1')).body
    const second = (await app.ask(`/api/runs?status=waiting&handler=ship&limit=1&cursor=${first.next_cursor}`)).body
    expect(first.items[0]).toMatchObject({ handler: 'ship', status: 'waiting' })
    expect(second.items[0].created_at <= first.items[0].created_at).toBe(true)
    expect(second.items[0].id).not.toBe(first.items[0].id)
    expect((await app.ask('/api/runs?handler=none')).body).toEqual({ items: [], next_cursor: null })
  })

  test('counts list every status of a run', async () => {
    await waiting('count')
    const { body } = await app.ask('/api/runs/counts')
    expect(body.waiting).toBeGreaterThan(0)
    expect(body.quarantined).toBe(0)
    expect(body).not.toHaveProperty('session')
  })
})

describe('ids', () => {
  test('are found whole, in capitals, with dashes, without prefix, and by their last digits', async () => {
    const run = await waiting('ids')
    const digits = run.slice('run_'.length)
    const dashed = digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    for (const text of [
      run,
      run.toUpperCase(),
      dashed,
      digits,
      digits.slice(-8),
      `run_${digits.slice(-8)}`,
      digits.slice(-6),
    ]) {
      expect([text, (await app.ask(`/api/runs/${text}`)).body.id]).toEqual([text, run])
    }
  })

  test('are not found by five digits, even if only one run ends with them', async () => {
    const run = await waiting('five')
    const { status, body } = await app.ask(`/api/runs/${run.slice(-5)}`)
    expect([status, body.detail]).toEqual([404, expect.stringContaining('at least the last 6 digits')])
  })

  test.each(['run_00000000000000000000000000000000', 'ffffff', 'abc', 'run_', 'order-7', `${'a'.repeat(33)}`])(
    '%s is not found',
    async (text) => {
      const { status, body } = await app.ask(`/api/runs/${text}`)
      expect([status, body.code]).toEqual([404, 'NOT_FOUND'])
    },
  )

  test('are refused with both candidates if two runs share the last digits', async () => {
    const [one, two] = ['run_00000000000000000000000000abcdef', 'run_11111111111111111111111111abcdef']
    const twins = await openApp({ name: 'twins' }, (service) => ({
      ...service,
      reader: { ...service.reader, runsEndingWith: () => Promise.resolve([one, two]) as never },
    }))
    const { status, body } = await twins.ask('/api/runs/abcdef')
    expect([status, body.code]).toEqual([409, 'ID_AMBIGUOUS'])
    expect(body.detail).toContain(`${one} and ${two}`)
    await twins.close()
  })
})

describe('commands', () => {
  test('[R12] a cancelled run ends, and its reason is kept', async () => {
    const run = await waiting('cancel')
    const { status, body } = await app.post(`/api/runs/${run.slice(-8)}/cancel`, { reason: 'out of stock' })
    expect([status, body.id]).toEqual([202, run])
    const after = await app.when(run, 'cancelled')
    expect(after.error).toEqual({ code: 'RUN_CANCELLED', message: 'out of stock' })
  })

  test('a command without a body is accepted, an unknown member is refused', async () => {
    const run = await waiting('bare')
    const wrong = await app.post(`/api/runs/${run}/cancel`, { because: 'x' })
    expect([wrong.status, wrong.body.code]).toEqual([422, 'INPUT_INVALID'])
    expect((await app.ask(`/api/runs/${run}/cancel`, { method: 'POST' })).status).toBe(202)
  })

  test('an ended run cannot be cancelled, and a successful one cannot be retried', async () => {
    const { body } = await app.post('/api/runs', { name: 'weigh' })
    await app.when(body.id, 'success')
    const cancel = await app.post(`/api/runs/${body.id}/cancel`, {})
    const retry = await app.post(`/api/runs/${body.id}/retry`, {})
    expect([cancel.status, cancel.body.code]).toEqual([409, 'RUN_ENDED'])
    expect([retry.status, retry.body.code]).toEqual([409, 'RUN_NOT_FAILED'])
  })

  test('[G12] a paused run shows its reason, receives events, and resumes where it was', async () => {
    const run = await waiting('held')
    const paused = await app.post(`/api/runs/${run}/pause`, { reason: 'prices changed' }, { 'x-trihand-user': 'ana' })
    expect([paused.status, paused.body.status]).toEqual([202, 'paused'])
    expect((await app.ask(`/api/runs/${run}/why`)).body.text).toMatch(
      /^It waits for a person to resume it: ana paused it \(prices changed\); and for an event: order\.paid/,
    )
    expect((await app.ask('/api/runs?status=paused')).body.items.map(({ id }: { id: string }) => id)).toEqual([run])
    await app.post('/api/events', { type: 'order.paid', data: { id: 'held' } })
    expect((await app.post(`/api/runs/${run}/resume`, {})).status).toBe(202)
    expect((await app.when(run, 'success')).output).toEqual({ weight: 7, paid: 'received' })
    const ended = await app.post(`/api/runs/${run}/pause`, {})
    expect([ended.status, ended.body.code]).toEqual([409, 'RUN_ENDED'])
  })

  test('a failed run that a person retries continues', async () => {
    const { body } = await app.post('/api/runs', { name: 'mend' })
    const failed = await app.when(body.id, 'failed')
    expect(failed.error.message).toContain('it broke')
    isHealed = true
    const retried = await app.post(`/api/runs/${body.id}/retry`, {})
    expect([retried.status, retried.body.waits, retried.body.done]).toEqual([202, false, []])
    await expect.poll(async () => (await app.ask(`/api/runs/${body.id}`)).body.output).toBe('whole')
  })

  test('[R6] resolving a step by run and step needs the rights, the hash and the confirmation of its task (13.1.6)', async () => {
    const { body } = await app.post('/api/runs', { name: 'pay' })
    const doubtful = await app.when(body.id, 'waiting')
    expect(doubtful.waiting_on).toEqual([expect.objectContaining({ kind: 'uncertain', step: 'charge', until: null })])
    const [{ task }] = doubtful.waiting_on
    const { shown_hash } = (await app.ask(`/api/tasks/${task}`)).body
    const answer = { step: 'charge', verdict: 'happened', result: { receipt: 12 }, shown_hash }
    const say = (given: object, who: object = OPERATOR) => app.post(`/api/runs/${body.id}/resolve`, given, who as never)
    const refusals = [
      [await say({ ...answer, confirm: 'charge' }, { 'x-trihand-user': 'eve' }), 403, 'TASK_FORBIDDEN'],
      [
        await say({ ...answer, confirm: 'charge' }, { ...OPERATOR, 'x-trihand-kind': 'agent' }),
        403,
        'AGENT_CANNOT_DECIDE',
      ],
      [await say({ ...answer, confirm: 'charge', shown_hash: 'other' }), 409, 'STALE_VIEW'],
      [await say(answer), 422, 'CONFIRMATION_REQUIRED'],
      [await say({ ...answer, confirm: 'pay' }), 422, 'CONFIRMATION_REQUIRED'],
    ] as const
    for (const [refused, status, code] of refusals) expect([refused.status, refused.body.code]).toEqual([status, code])
    expect((await say({ ...answer, confirm: 'charge' })).status).toBe(202)
    await expect.poll(async () => (await app.ask(`/api/runs/${body.id}`)).body.output).toEqual({ receipt: 12 })
  })

  test.each([
    [{ step: 'payment', verdict: 'perhaps' }, 422, 'INPUT_INVALID'],
    [{ verdict: 'happened' }, 422, 'INPUT_INVALID'],
  ])('the verdict on a step must be one of three: %j', async (given, wanted, code) => {
    const run = await waiting(`word-${given.verdict}-${'step' in given}`)
    const { status, body } = await app.post(`/api/runs/${run}/resolve`, given)
    expect([status, body.code]).toEqual([wanted, code])
  })

  test('a command to an unknown run is 404', async () => {
    for (const verb of ['cancel', 'pause', 'resume', 'retry', 'resolve']) {
      const { status } = await app.post(`/api/runs/ffffffff/${verb}`, { step: 'a', verdict: 'abort' })
      expect([verb, status]).toEqual([verb, 404])
    }
  })
})

test('a run explains in one sentence why it does not continue', async () => {
  const run = await waiting('why')
  const { status, body } = await app.ask(`/api/runs/${run}/why`)
  expect([status, body.status, body.waiting_on.length]).toEqual([200, 'waiting', 1])
  expect(body.text).toMatch(/^It waits for an event: order\.paid.* \(step payment\)\.$/)
  const { body: started } = await app.post('/api/runs', { name: 'weigh' })
  await app.when(started.id, 'success')
  expect((await app.ask(`/api/runs/${started.id}/why`)).body.text).toBe('It does not wait: it has ended (success).')
})
