/** Metrics over HTTP, on a real engine: compares a scrape before with a scrape after. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { authSettings } from '#http/access/auth-settings.ts'
import { gaugesOf } from '#http/metrics/gauges.ts'
import { human } from '#manifest/human/humans.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

const TOKEN = 'scrape-me'
const SYSTEM = {
  name: 'letters',
  events: { 'letter.ready': null, 'letter.drafted': null },
  functions: [
    fn('draft', { trigger: 'letter.drafted' }, async ({ step }) => {
      await step.run('write', async () => 'Dear all')
      return step.run('sign', async () => 'Ana')
    }),
  ],
  humans: [human('review', { trigger: 'letter.ready', title: 'Letter', assign: 'group:editors' })],
}

let app: HttpApp
beforeEach(async () => {
  app = await openApp(SYSTEM)
})
afterEach(() => app.close())

const lines = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )

const scrape = async (): Promise<ReadonlyMap<string, number>> => lines((await app.ask('/metrics')).text)

/** The difference between two scrapes, without durations and without the ledger's batches. */
const grown = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): Record<string, number> =>
  Object.fromEntries(
    [...after]
      .map(([name, value]) => [name.replace('trihand_', ''), value - (before.get(name) ?? 0)] as const)
      .filter(
        ([name, more]) =>
          more !== 0 &&
          !/^(commit_|http_seconds|task_wait_seconds_sum|step_seconds_[bs]|runs_open|tasks_open|slots_|process_|event_loop_|intake_|oldest_due)/.test(
            name,
          ),
      ),
  )

/** The difference, once a run has been counted as ended. */
const grownAfterEnd = (before: ReadonlyMap<string, number>): Promise<Record<string, number>> =>
  until(
    async () => grown(before, await scrape()),
    (more) => Object.keys(more).some((name) => name.startsWith('runs_ended_total')),
    { what: 'a run is counted as ended' },
  )

describe('a scrape', () => {
  test('grows after one run by exactly that run', async () => {
    const before = await scrape()
    await app.started('letter.drafted')
    expect(await grownAfterEnd(before)).toEqual({
      'events_total{type="letter.drafted",result="accepted"}': 1,
      'runs_started_total{handler="draft",mode="daemon"}': 1,
      'runs_ended_total{handler="draft",status="success"}': 1,
      'steps_total{modality="workflow",status="success"}': 2,
      'step_seconds_count{modality="workflow",status="success"}': 2,
    })
  })

  test('grows after one decision by exactly that decision', async () => {
    const run = await app.started('letter.ready')
    const { body } = await until(
      () => app.ask(`/api/tasks?all=true&run=${run}`),
      (answer) => answer.body.items.length === 1,
      { what: 'the task is there' },
    )
    const headers = { 'x-trihand-user': 'ana', 'x-trihand-groups': 'editors' }
    const task = (await app.ask(`/api/tasks/${body.items[0].id}`, { headers })).body
    const before = await scrape()
    const decision = { action: 'approve', shown_hash: task.shown_hash }
    expect((await app.post(`/api/tasks/${task.id}/decision`, decision, headers)).status).toBe(200)
    const more = await grownAfterEnd(before)
    const waits = Object.keys(more).filter((name) => name.startsWith('task_wait_seconds'))
    expect(waits).toContain('task_wait_seconds_count{type="approval"}')
    for (const name of waits) expect([name, more[name]]).toEqual([name, 1])
    expect(Object.fromEntries(Object.entries(more).filter(([name]) => !waits.includes(name)))).toEqual({
      'events_total{type="human.decided",result="accepted"}': 1,
      'decisions_total{action="approve"}': 1,
      'steps_total{modality="human",status="success"}': 1,
      'runs_ended_total{handler="review",status="success"}': 1,
    })
  })

  test('counts an event that was sent twice as accepted once and as a duplicate once', async () => {
    const before = await scrape()
    const event = { type: 'letter.drafted', id: 'one', data: {} }
    await app.post('/api/events', event)
    await app.post('/api/events', event)
    expect(await grownAfterEnd(before)).toMatchObject({
      'events_total{type="letter.drafted",result="accepted"}': 1,
      'events_total{type="letter.drafted",result="duplicate"}': 1,
      'runs_started_total{handler="draft",mode="daemon"}': 1,
    })
  })

  test('counts requests by the pattern of their route, and problems by their code', async () => {
    const before = await scrape()
    await app.ask(`/api/runs/run_${'0'.repeat(32)}`)
    const after = await scrape()
    const more = (name: string): number => (after.get(name) ?? 0) - (before.get(name) ?? 0)
    expect(more('trihand_http_seconds_count{route="/api/runs/{id}",status="404"}')).toBe(1)
    expect(more('trihand_errors_total{code="NOT_FOUND"}')).toBe(1)
  })

  test('shows gauges: open runs and tasks, workers, the version, whether the ledger is durable', async () => {
    const run = await app.started('letter.ready')
    await app.when(run, 'waiting')
    const now = app.trihand.tasks.now
    const readings = await gaugesOf(app.trihand)(now)
    expect(readings).toContainEqual({ metric: 'runs_open', labels: ['waiting'], value: 1 })
    expect(readings).toContainEqual({ metric: 'tasks_open', labels: ['approval', 'false'], value: 1 })
    expect(readings).toContainEqual({ metric: 'workers', labels: ['default', 'working'], value: 1 })
    const text = await scrape()
    expect(text.get('trihand_build_info{version="0.0.0"}')).toBe(1)
    expect(text.get('trihand_durable')).toBe(0)
  })

  test('shows how many streams are open', async () => {
    const openStreams = async (): Promise<number | undefined> => (await scrape()).get('trihand_stream_clients')
    expect(await openStreams()).toBe(0)
    const [first, second] = [await app.open('/api/stream'), await app.open('/api/stream')]
    expect(await openStreams()).toBe(2)
    await Promise.all([first.body?.cancel(), second.body?.cancel()])
    expect(await openStreams()).toBe(0)
  })

  test('reads the ledger again after five seconds, and not before', async () => {
    const read = gaugesOf(app.trihand)
    const waiting = async (now: number): Promise<number | undefined> =>
      (await read(now)).find(({ metric, labels }) => metric === 'runs_open' && labels[0] === 'waiting')?.value
    expect(await waiting(0)).toBe(0)
    await app.when(await app.started('letter.ready'), 'waiting')
    expect(await waiting(4_999)).toBe(0)
    expect(await waiting(5_000)).toBe(1)
  })

  test('is text that gives the type of each metric', async () => {
    const { headers, text } = await app.ask('/metrics')
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(text).toContain('# TYPE trihand_commit_seconds histogram')
    expect(text).toContain('# TYPE trihand_events_total counter')
    expect(text).toContain('# TYPE trihand_runs_open gauge')
  })
})

describe('where credentials are required', () => {
  const auth = {
    ...authSettings({ host: '127.0.0.1', publicUrl: 'https://th.example' }, 'k'.repeat(32)),
    metricsToken: TOKEN,
  }
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
  let guarded: HttpApp
  beforeEach(async () => {
    guarded = await openApp(SYSTEM, undefined, { auth })
  })
  afterEach(() => guarded.close())

  test('auth-4: the metrics token opens the metrics and nothing else', async () => {
    expect((await guarded.ask('/metrics', bearer(TOKEN))).status).toBe(200)
    expect((await guarded.ask('/metrics')).status).toBe(401)
    expect((await guarded.ask('/metrics', bearer('scrape-you'))).status).toBe(401)
    expect((await guarded.ask('/api/runs', bearer(TOKEN))).status).toBe(401)
  })

  test('[S9] a caller of another tenant gets no metrics', async () => {
    const intent = { tenant: 'acme', name: 'ana', kind: 'user', roles: ['admin'], groups: [] }
    const { token } = await guarded.trihand.tokens.create(intent, 'test')
    expect((await guarded.ask('/metrics', bearer(token))).status).toBe(404)
  })
})
