/** An agent's answer that a declared rule passes to a person: the run stays, the modality changes. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { agent } from '#manifest/define/agents.ts'
import type { AgentOptions } from '#model/agent/source.ts'
import { agentPlace, beginAgents, ended, untilStatus } from '#test/support/agents/agent-system.ts'
import { paidModel, said } from '#test/support/agents/agents.ts'
import { ana, Inbox } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import type { TestStore } from '#testing/system.ts'

const place = agentPlace()

const TRIAGER: AgentOptions = {
  instructions: 'Classify the response.',
  asks: { groups: ['editors'] },
  outputSchema: {
    type: 'object',
    properties: { category: { enum: ['yes', 'no', 'escalate'] }, confidence: {} },
    required: ['category'],
  },
  escalationRules: [
    { condition: 'agent.confidence < 0.6', escalateTo: 'human', reason: 'Low confidence classification' },
    { condition: "agent.output.category == 'escalate'", escalateTo: 'human', reason: 'Agent requested escalation' },
  ],
}

const begin = async (store: TestStore, answer: unknown, options: Partial<AgentOptions> = {}) => {
  const model = paidModel(() => said(JSON.stringify(answer)))
  const functions = [fn('second-opinion', {}, ({ input }) => ({ category: 'no', confidence: 1, asked: input }))]
  const agents = [agent('triager', { ...TRIAGER, ...options })]
  const system = await beginAgents({ agents, functions }, store, place, model)
  const run = await system.start('triager', { mail: 'Maybe.' })
  return { system, run, inbox: new Inbox(system), model }
}

onEveryStore('escalation', (store) => {
  test('[D1] an answer with high confidence is accepted', async () => {
    const { system, run } = await begin(store(), { category: 'yes', confidence: 0.9 })
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: { category: 'yes' } })
    await system.close()
  })

  test("[D1] an answer with low confidence goes to a person with the reason; the person's version is the output", async () => {
    const { system, run, inbox, model } = await begin(store(), { category: 'yes', confidence: 0.42 })
    await untilStatus(system, run, 'waiting')
    const task = await inbox.only()
    expect(await inbox.row(task)).toMatchObject({ summary: { escalationReason: 'Low confidence classification' } })
    const items = (category: string) => ({ output: { status: 'edited' as const, modifications: { category } } })
    await expect(inbox.decide(task, ana, { action: 'edit', items: items('perhaps') })).rejects.toMatchObject({
      code: 'MODIFICATION_INVALID',
    })
    await inbox.decide(task, ana, { action: 'edit', items: items('no') })
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: { category: 'no' } })
    expect(model.calls).toHaveLength(1)
    await system.close()
  })

  test.each([
    ['without any confidence', {}],
    ['of a confidence in words', { confidence: 'high' }],
    ['of 42', { confidence: 42 }],
  ])('[D1] an answer with %s goes to a person: fails closed', async (_, more) => {
    const { system, run, inbox } = await begin(store(), { category: 'yes', ...more })
    await untilStatus(system, run, 'waiting')
    await inbox.decide(await inbox.only(), ana, { action: 'approve' })
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: { category: 'yes', ...more } })
    await system.close()
  })

  test('[D1] an answer that the person rejects fails the run with their reason', async () => {
    const { system, run, inbox } = await begin(store(), { category: 'escalate', confidence: 0.9 })
    await untilStatus(system, run, 'waiting')
    await inbox.decide(await inbox.only(), ana, { action: 'reject', reason: 'call them' })
    const { status, error } = await ended(system, run)
    expect([status, error?.code]).toEqual(['failed', 'STEP_REFUSED'])
    expect(error?.message).toContain('call them')
    await system.close()
  })

  test('[D1] a rule may name another handler, whose answer must fit too', async () => {
    const escalationRules = [{ condition: 'agent.confidence < 0.6', escalateTo: 'second-opinion' }]
    const { system, run } = await begin(store(), { category: 'yes', confidence: 0 }, { escalationRules })
    expect(await ended(system, run)).toMatchObject({ status: 'success', output: { category: 'no' } })
    await system.close()
  })
})
