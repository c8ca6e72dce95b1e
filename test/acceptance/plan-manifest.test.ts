/** A plan of a manifest: the steps of the documents, as they are written there, done by the three hands. */
import { expect, test } from 'vitest'
import { loadManifest } from '../../src/manifest/yaml/load.ts'
import { sourceOf } from '../../src/manifest/yaml/source.ts'
import type { Json } from '../../src/model/json.ts'
import { agentPlace, beginAgents, ended, untilTask } from '../support/agent-system.ts'
import { paidModel, said } from '../support/agents.ts'
import { Inbox, person } from '../support/inbox.ts'
import { onEveryStore } from '../support/stores.ts'

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

const operator = person('otto', 'operators')
const place = agentPlace()

onEveryStore('plans of a manifest', (store) => {
  test('[A1][D1][N2] an agent that is not sure, a person and a function do the steps of one plan', async () => {
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
})
