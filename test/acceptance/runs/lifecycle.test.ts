/** Lifecycle events of each modality, received like any event: by triggers, by waits, across crashes, and never in cycles. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { agent } from '#manifest/define/agents.ts'
import type { AgentOptions } from '#model/agent/source.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import { at, type Json } from '#model/kernel/json.ts'
import { agentPlace, beginAgents, ended, untilStatus } from '#test/support/agents/agent-system.ts'
import { paidModel, said } from '#test/support/agents/agents.ts'
import { ana, Inbox } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const place = agentPlace()

const told = async (system: TestSystem, prefix: string) => {
  const query = { tenant: LOCAL_TENANT, type: null, before: null, limit: 100 }
  const events = await system.run(() => system.store.reader.events(query))
  return events.filter(({ type }) => type.startsWith(prefix)).reverse()
}

const names = async (system: TestSystem, prefix: string) => (await told(system, prefix)).map(({ type }) => type)

/** Listens to every lifecycle event of one handler. */
const diary = (hand: string, words: readonly string[], handler: string) =>
  fn(
    'diary',
    { triggers: words.map((word) => ({ event: `${hand}.${word}`, filter: `payload.handler == "${handler}"` })) },
    ({ event }) => event?.type ?? null,
  )

const WORKFLOW = ['started', 'completed', 'failed', 'retrying']
const AGENT = ['started', 'completed', 'failed', 'escalated']

const heard = async (system: TestSystem, handler = 'diary') => {
  const query = { tenant: LOCAL_TENANT, handler, status: null, before: null, limit: 20 }
  const runs = await system.run(() => system.store.reader.runs(query))
  return Promise.all([...runs].reverse().map(async ({ id }) => (await system.look(id)).output))
}

const work = (attempts: number) => {
  let tries = 0
  const flaky = (): string => {
    tries += 1
    if (tries <= attempts) throw new Error(`try ${tries}`)
    return 'done'
  }
  return fn('work', { retry: { maxAttempts: 2 } }, async ({ step }) => {
    await step.sleep('first', '1m')
    return { word: await step.run('flaky', flaky, { retry: { maxAttempts: 2 } }) }
  })
}

const TRIAGER: AgentOptions = {
  instructions: 'Classify.',
  asks: { groups: ['editors'] },
  outputSchema: { type: 'object', properties: { category: {}, confidence: {} }, required: ['category'] },
  escalationRules: [{ condition: 'agent.confidence < 0.6', escalateTo: 'human', reason: 'Low confidence' }],
}

const answering = (answer: Json) => paidModel(() => said(JSON.stringify(answer)))

onEveryStore('lifecycle', (store) => {
  test('[D3] a function emits that it started, retried and completed, once each, across a crash', async () => {
    const source = { name: 'life', functions: [work(1), diary('workflow', WORKFLOW, 'work')] }
    const system = await startTestSystem(source, store())
    const run = await system.start('work')
    await system.settle()
    await system.crash()
    await system.advance('1m')
    await system.crash()
    await system.advance('1h')
    expect((await system.look(run)).status).toBe('success')
    const events = await told(system, 'workflow.')
    expect(events.map(({ type }) => type)).toEqual(['workflow.started', 'workflow.retrying', 'workflow.completed'])
    const about = { run_id: run, handler: 'work', modality: 'workflow', session_id: null }
    expect(events.map(({ data }) => data)).toMatchObject([
      { ...about, step_id: null, attempt: 1 },
      { ...about, step_id: 'flaky', attempt: 1, error: { message: 'try 1' }, next_at: expect.any(Number) },
      {
        ...about,
        step_id: null,
        attempt: 1,
        status: 'success',
        result: { word: 'done' },
        emitted_events: [],
        db_writes: [],
        result_hash: expect.any(String),
      },
    ])
    expect(Number(at(events[2]?.data ?? null, 'duration_ms'))).toBeGreaterThanOrEqual(60_000)
    expect(events[2]).toMatchObject({ source: 'workflow:work', subject: run, chain: ['work'], hops: 1 })
    expect(await heard(system)).toEqual(['workflow.started', 'workflow.retrying', 'workflow.completed'])
    await system.close()
  })

  test('[D3] a function without attempts left emits its error, also if a deadline or a person ends it', async () => {
    const late = fn('late', { deadline: { finish: '10m' } }, ({ step }) => step.sleep('long', '1d'))
    const failures = fn('failures', { trigger: 'workflow.failed' }, ({ input }) => input)
    const system = await startTestSystem({ name: 'life', functions: [work(9), late, failures] }, store())
    await system.start('work')
    await system.start('late')
    const cancelled = await system.start('late')
    await system.run(() => system.engine.cancel(cancelled, 'ana', 'not needed'))
    await system.crash()
    await system.advance('1d')
    const seen = (await heard(system, 'failures')) as unknown as readonly { handler: string; error: { code: string } }[]
    expect(seen.map(({ handler, error }) => [handler, error.code]).sort()).toEqual([
      ['late', 'RUN_DEADLINE'],
      ['work', 'FUNCTION_FAILED'],
    ])
    await system.close()
  })

  test('[D3] an agent emits its model, its escalation with rule and task, and its output with usage and cost', async () => {
    const model = answering({ category: 'yes', confidence: 0.4 })
    const source = { agents: [agent('triager', TRIAGER)], functions: [diary('agent', AGENT, 'triager')] }
    const system = await beginAgents(source, store(), place, model)
    const inbox = new Inbox(system)
    const run = await system.start('triager', { mail: 'Maybe.' })
    await untilStatus(system, run, 'waiting')
    await system.crash()
    const task = await inbox.only()
    await inbox.decide(task, ana, { action: 'approve' })
    expect(await ended(system, run)).toMatchObject({ status: 'success' })
    await system.settle()
    const events = await told(system, 'agent.')
    expect(events.map(({ type }) => type)).toEqual(['agent.started', 'agent.escalated', 'agent.completed'])
    const about = { run_id: run, handler: 'triager', modality: 'agent', attempt: 1 }
    expect(events.map(({ data }) => data)).toMatchObject([
      { ...about, step_id: null, model: expect.any(String) },
      { ...about, step_id: 'agent/escalate', rule: 'agent.confidence < 0.6', reason: 'Low confidence', task_id: task },
      {
        ...about,
        ...{ structured_output: { category: 'yes' }, artifacts: [], cost: { micros: 200 } },
        ...{ token_usage: { input_tokens: 100, output_tokens: 20 }, duration_ms: expect.any(Number) },
      },
    ])
    const order = (await told(system, '')).map(({ type }) => type).filter((type) => /^(agent|human)\./.test(type))
    expect(order.indexOf('agent.escalated')).toBeLessThan(order.indexOf('human.decided'))
    expect(await heard(system)).toEqual(['agent.started', 'agent.escalated', 'agent.completed'])
    expect(model.calls).toHaveLength(1)
    await system.close()
  })

  test('[D3] an agent without an answer emits that it failed', async () => {
    const model = paidModel(() => said('no JSON at all'))
    const source = { agents: [agent('triager', TRIAGER)], functions: [diary('agent', AGENT, 'triager')] }
    const system = await beginAgents(source, store(), place, model)
    const run = await system.start('triager')
    await ended(system, run)
    await system.settle()
    const events = await told(system, 'agent.')
    expect(events.map(({ type }) => type)).toEqual(['agent.started', 'agent.failed'])
    expect(events[1]?.data).toMatchObject({ status: 'failed', error: { code: 'OUTPUT_INVALID' } })
    await system.close()
  })

  test('[D3] a run can wait for the work of an agent that it started, however fast that is', async () => {
    const boss = fn('boss', { waits: ['agent.completed'] }, async ({ step, run }) => {
      await step.emit('ask', { type: 'work.asked', data: { boss: run.id } })
      const options = { event: 'agent.completed', if: 'payload.handler == "triager"' }
      const { event } = await step.waitForEvent('answer', options)
      return at(event?.data ?? null, 'structured_output')
    })
    const agents = [agent('triager', { ...TRIAGER, escalationRules: [], triggers: ['work.asked'] })]
    const model = answering({ category: 'no' })
    const system = await beginAgents({ agents, functions: [boss] }, store(), place, model)
    const run = await system.start('boss')
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: { category: 'no' } })
    await system.close()
  })

  test('[D3] waiting for an unknown lifecycle event is refused, because it would never come', async () => {
    const boss = fn('boss', { retry: { maxAttempts: 1 } }, ({ step }) =>
      step.waitForEvent('answer', { event: 'agent.complete' }),
    )
    const system = await startTestSystem({ name: 'life', functions: [boss] }, store())
    const run = await system.start('boss')
    await system.settle()
    const { status, error } = await system.look(run)
    expect([status, error?.code]).toEqual(['failed', 'EVENT_NOT_TOLD'])
    expect(error?.message).toContain('did you mean agent.completed?')
    await system.close()
  })

  test('[D3] a handler never starts on its own lifecycle events, whatever it allows, and two that listen to each other stop', async () => {
    const open = { ...TRIAGER, escalationRules: [], triggers: ['agent.completed'] }
    const agents = [agent('ping', { ...open, allowReentry: 5 }), agent('pong', open)]
    const model = answering({ category: 'no' })
    const system = await beginAgents({ agents }, store(), place, model)
    await system.start('ping')
    const runsOf = (handler: string): Promise<readonly { readonly id: RunId }[]> =>
      system.run(() =>
        system.store.reader.runs({ tenant: LOCAL_TENANT, handler, status: 'success', before: null, limit: 99 }),
      )
    await system.run(async () => {
      while ((await runsOf('ping')).length < 2) await new Promise((resolve) => setImmediate(resolve))
    })
    await system.advance('1h')
    // ping > pong > ping: pong is in that chain already, and ping never receives its own events.
    expect([(await runsOf('ping')).length, (await runsOf('pong')).length]).toEqual([2, 1])
    await system.close()
  })

  test('[D3] lifecycle events without a listener are not written', async () => {
    const system = await startTestSystem({ name: 'life', functions: [work(0)] }, store())
    await system.start('work')
    await system.advance('1h')
    expect(await names(system, '')).toEqual([])
    await system.close()
  })
})
