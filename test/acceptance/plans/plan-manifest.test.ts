/** A plan of a manifest: the steps of the documents, as they are written there, done by all three modalities. */
import { expect, test } from 'vitest'
import type { FunctionContext } from '#executors/workflow/function.ts'
import { loadManifest } from '#manifest/yaml/load.ts'
import { sourceOf } from '#manifest/yaml/source.ts'
import type { Json } from '#model/kernel/json.ts'
import { FinalError } from '#model/run/step-failure.ts'
import { agentPlace, beginAgents, ended, untilTask } from '#test/support/agents/agent-system.ts'
import { paidModel, said } from '#test/support/agents/agents.ts'
import { Inbox, person } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const TEXT = `
product: {name: campaign}
events: [{name: lead.replied, source: external}]
agents:
  - name: response-triager
    instructions: Classify the reply.
    contract: {output_schema: {type: object, properties: {category: {type: string}, confidence: {type: number}}}}
functions:
  - {name: send-email}
  - {name: note, trigger: agent.escalated}
plans:
  - name: answer
    approve: auto
    trigger: lead.replied
    steps:
      - subtask:
          id: triage
          name: "Classify lead response"
          type: "decision"
          assigned_to: "agent"
          agent_config: {agent_id: "response-triager"}
          escalation_rules:
            - {condition: "agent.confidence < 0.6", escalate_to: "human", reason: "Low confidence classification"}
      - subtask:
          id: approve
          name: "Approve drafted reply"
          type: "approval"
          assigned_to: "human"
          requires: [triage]
          human_config:
            context: {lead_response: "{{thread.response}}", category: "{{triage.category}}"}
            allowed_actions: ["approve", "reject"]
      - subtask:
          id: send
          name: "Send email via Resend"
          type: "api_call"
          assigned_to: "workflow"
          requires: [approve]
          workflow_config: {function_name: "send-email", inputs: {email_id: "{{subtask.email_id}}"}}
`

const TERMS = `
product: {name: terms}
functions:
  - {name: note, throttle: {limit: 1, period: 1h}}
  - {name: rest}
  - {name: fail}
plans:
  - name: turns
    approve: auto
    steps:
      - {id: one, assigned_to: workflow, workflow_config: {function_name: note}}
      - {id: two, assigned_to: workflow, workflow_config: {function_name: note}, gate: none}
  - name: ends
    approve: auto
    steps:
      - {id: left, assigned_to: workflow, workflow_config: {function_name: rest, inputs: {name: left}}}
      - {id: free, assigned_to: workflow, workflow_config: {function_name: rest, inputs: {name: free}}, on_parent_end: detach}
      - {id: bad, assigned_to: workflow, workflow_config: {function_name: fail}}
`

const operator = person('otto', 'operators')
const place = agentPlace()

onEveryStore('plans of a manifest', (store) => {
  test('[A1][D1][N2] an unsure agent, a person and a function perform the steps of one plan', async () => {
    const { manifest, findings } = loadManifest(TEXT)
    if (manifest === null) throw new Error(JSON.stringify(findings))
    const sent: Json[] = []
    const told: Json[] = []
    const push =
      (list: Json[]) =>
      ({ input }: { readonly input: Json }) =>
        void list.push(input)
    const code = new Map([
      ['send-email', push(sent)],
      ['note', push(told)],
    ])
    const model = paidModel(() => said(JSON.stringify({ category: 'maybe', confidence: 0.3 })))
    const { functions = [], agents = [], events = {} } = sourceOf(manifest, { code })
    const system = await beginAgents({ agents, functions, events }, store(), place, model)
    const inbox = new Inbox(system)
    const data = { email_id: 7, thread: { response: 'Perhaps.' } }
    const { runs } = await system.send({ type: 'lead.replied', data })
    const [run] = runs
    if (run === undefined) throw new Error('the event starts the plan')
    const doubted = await untilTask(inbox)
    expect(await inbox.row(doubted)).toMatchObject({ title: 'Classify lead response: not sure' })
    const items = { output: { status: 'edited' as const, modifications: { category: 'yes' } } }
    await inbox.decide(doubted, operator, { action: 'edit', items })
    await inbox.decide(await untilTask(inbox), operator, { action: 'approve' })
    expect(await ended(system, run)).toMatchObject({
      status: 'success',
      output: { steps: { triage: { output: { category: 'yes' } }, send: { status: 'success' } } },
    })
    await system.settle()
    expect(sent).toEqual([{ email_id: 7 }])
    expect(told).toMatchObject([{ run_id: run, step_id: 'triage[escalated]', reason: 'Low confidence classification' }])
    expect(model.calls).toHaveLength(1)
    await system.close()
  })

  test('[N2][K5] gate and on_parent_end of plan steps in YAML take effect (14.1.5, 14.4.3)', async () => {
    const { manifest, findings } = loadManifest(TERMS)
    if (manifest === null) throw new Error(JSON.stringify(findings))
    let noted = 0
    const rested: Json[] = []
    const code = new Map<string, (context: FunctionContext) => unknown>([
      ['note', () => void noted++],
      [
        'rest',
        async ({ input, step }) => {
          await step.sleep('nap', '10m')
          rested.push(input)
        },
      ],
      [
        'fail',
        async ({ step }) => {
          await step.sleep('first', '1m')
          throw new FinalError('no luck')
        },
      ],
    ])
    const { functions = [], events = {} } = sourceOf(manifest, { code })
    const system = await startTestSystem({ name: 'terms', functions, events }, store())
    // The throttle is used up; the step without the gate runs all the same.
    await system.start('note', {})
    await system.settle()
    const turns = await system.start('turns', {})
    await system.settle()
    expect(noted).toBe(2)
    await system.advance('2h')
    expect([noted, (await system.look(turns)).status]).toEqual([3, 'success'])
    const ends = await system.start('ends', {})
    await system.advance('1h')
    expect((await system.look(ends)).status).toBe('failed')
    expect(rested).toEqual([{ name: 'free' }])
    await system.close()
  })
})
