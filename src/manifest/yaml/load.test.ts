/** [A2] Manifests as people write them: those of the documents load, bad ones are reported with code, line and column. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { agent } from '#manifest/define/agents.ts'
import { defineSystem, normalise, type SystemSource } from '#manifest/define/define.ts'
import { jsonSchema } from '#manifest/schema/ajv-schema.ts'
import { loadManifest } from './load.ts'
import { sourceOf } from './source.ts'

const errorsOf = (text: string): readonly unknown[] =>
  loadManifest(text)
    .findings.filter(({ level }) => level === 'error')
    .map(({ code, line, column }) => `${code} ${line}:${column}`)

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
const hashOf = (source: SystemSource): string => normalise(source, digest).hash

describe('[A2] the manifests of the documents', () => {
  test('agents, functions and humans in their shortest form', () => {
    const { manifest, findings } = loadManifest(`
product: {name: lead-campaign}
events:
  - name: campaign.approved
    description: "Human approved the campaign bundle"
agents:
  # PERSONA MATCHER AGENT
  - name: persona-matcher
    triggers:
      - event: lead.enriched
    emits:
      - event: lead.matched
functions:
  - name: approve-campaign-items
    trigger:
      event: campaign.approved  # Human action triggers this
  - name: personalize-eex
    pattern: simple
    trigger:
      event: wrapper_emails.drafted
    emits:
      - eex.personalized
`)
    expect(findings.filter(({ level }) => level === 'error')).toEqual([])
    expect(manifest?.functions?.map(({ name }) => name)).toEqual(['approve-campaign-items', 'personalize-eex'])
  })

  test('[D1] every kind of step, as a plan', () => {
    const { manifest, findings } = loadManifest(`
product: {name: campaign}
plans:
  - name: outreach
    steps:
      - subtask:
          name: "Draft initial outreach email"
          type: "generation"
          assigned_to: "agent"
          agent_config: {agent_id: "email-drafter", output_schema: EmailDraftSchema}
      - subtask:
          name: "Send email via Resend"
          type: "api_call"
          assigned_to: "workflow"
          workflow_config: {function_name: "send-email", inputs: {email_id: "{{subtask.email_id}}"}}
      - subtask:
          name: "Review and approve campaign"
          type: "decision"
          assigned_to: "human"
          human_config:
            approval_bundle_id: "{{bundle.id}}"
            allowed_actions: ["approve", "reject", "request_edit", "reassign"]
      - subtask:
          name: "Personalize EEX templates"
          type: "transform"
          assigned_to: "workflow"
          workflow_config:
            function_name: "personalize-eex"
            inputs:
              template_ids: ["eex_1", "eex_2"]
              variables: {first_name: "{{lead.first_name}}", company: "{{lead.company}}"}
      - subtask:
          name: "Classify lead response"
          type: "decision"
          assigned_to: "agent"
          agent_config: {agent_id: "response-triager", output_schema: ResponseClassificationSchema}
      - subtask:
          name: "Approve drafted reply"
          type: "approval"
          assigned_to: "human"
          human_config:
            task_type: "approval"
            context: {original_email: "{{thread.original}}", drafted_reply: "{{draft.body}}"}
            allowed_actions: ["approve", "edit", "reject"]
      - subtask:
          name: "Handle unclear response"
          default_modality: "agent"
          escalation_rules:
            - {condition: "agent.confidence < 0.6", escalate_to: "human", reason: "Low confidence classification"}
            - {condition: "agent.output.category == 'escalate'", escalate_to: "human", reason: "Agent requested escalation"}
`)
    // The functions and agents that they refer to are not in this text.
    expect(new Set(findings.map(({ level, code }) => `${level} ${code}`))).toEqual(new Set(['warning PLAN_UNASSIGNED']))
    const steps = manifest?.plans?.[0]?.['steps'] as readonly { readonly id: string }[]
    expect(steps.map(({ id }) => id)).toHaveLength(7)
  })
})

describe('[A2] mistakes are reported with code, line and column', () => {
  test.each([
    ['MANIFEST_INVALID 1:1', 'just a text'],
    ['MANIFEST_INVALID 1:1', 'events: []'],
    ['MANIFEST_INVALID 1:17', 'product: {name: [a]}'],
    [
      'MANIFEST_INVALID 3:23',
      'product: {name: s}\nfunctions:\n  - {name: F, enabled: true}'.replace('F,', 'f, effect: twice,'),
    ],
    ['MANIFEST_INVALID 3:12', 'product: {name: s}\nfunctions:\n  - {name: Not A Name}'],
    ['MANIFEST_INVALID 2:17', 'product: {name: s}\nevents: [{name: Bad Name}]'],
    ['MANIFEST_INVALID 2:32', 'product: {name: s}\nfunctions: [{name: f, timeout: 30}]'],
    [
      'MANIFEST_INVALID 2:31',
      'product: {name: s}\nevents: [{name: a.b, payload: {id: strin}}]'.replace('{id: strin}', 'text'),
    ],
    ['MANIFEST_INVALID 2:36', 'product: {name: s}\nevents: [{name: a.b, payload: {id: strin}}]'],
    ['MANIFEST_DUPLICATE_KEY 3:1', 'product: {name: s}\nevents: []\nevents: []'],
    [
      'MANIFEST_DUPLICATE_NAME 2:10',
      'product: {name: s}\nfunctions: [{name: x}]\nagents: [{name: x}]'.replace('functions', 'humans'),
    ],
    ['MANIFEST_DUPLICATE_NAME 2:24', 'product: {name: s}\nfunctions: [{name: x}, {name: x}]'],
    ['MANIFEST_DUPLICATE_NAME 2:15', 'product: {name: s}\nevents: [a.b, a.b]'],
    ['EVENT_RESERVED 2:10', 'product: {name: s}\nevents: [agent.done]'],
    ['EVENT_RESERVED 2:31', 'product: {name: s}\nfunctions: [{name: x, emits: [trihand.x]}]'],
    [
      'EXPR_REJECTED 2:64',
      'product: {name: s}\nfunctions: [{name: x, trigger: {event: a.b, filter: "payload.n ~ 3"}}]',
    ],
    ['EXPR_REJECTED 2:53', 'product: {name: s}\nfunctions: [{name: x, trigger: {event: a.b, filter: "matches(1)"}}]'],
    [
      'EXPR_REJECTED 2:54',
      'product: {name: s}\nagents: [{name: x, escalation_rules: [{condition: ")"}]}]'.replace('")"', '"(("'),
    ],
    [
      'SCHEDULE_NEVER_FIRES 2:13',
      'product: {name: s}\nschedules: [{name: x, cron: "0 0 30 2 *", emit: a.b}]\nevents: [a.b]',
    ],
    [
      'INSTANT_WITHOUT_ZONE 2:27',
      'product: {name: s}\nschedules: [{name: x, at: "2026-01-01T00:00:00", emit: a.b}]\nevents: [a.b]',
    ],
    [
      'POLICY_CONFLICT 2:13',
      'product: {name: s}\nfunctions: [{name: x, trigger: a.b, batch: {}, debounce: {period: 1s}}]',
    ],
    [
      'COST_TOO_HIGH 2:62',
      'product: {name: s}\nfunctions: [{name: x, throttle: {limit: 1, period: 1s, cost: 2}}]'.replace(
        'throttle',
        'throttle',
      ),
    ],
    ['MANIFEST_INVALID 2:31', 'product: {name: s}\nfunctions: [{name: x, module: none}]'],
  ])('%s', (expected, text) => {
    const [code] = expected.split(' ')
    const errors = errorsOf(text)
    expect(errors[0]).toMatch(new RegExp(`^${code} \\d+:\\d+$`))
    expect(errors[0]).toBe(expected)
  })

  test('all mistakes are reported at once, in every part', () => {
    const text = `product: {name: s}
functions:
  - {name: a, circuit: {window: 0}}
  - {name: b, rate_limit: {limit: 0, period: 1s}}
schedules:
  - {name: c, every: 1ms, function: a}
  - {name: d, every: 1h, function: nowhere}
`
    expect(errorsOf(text).map((error) => String(error).split(':')[0])).toEqual([
      'MANIFEST_INVALID 3',
      'MANIFEST_INVALID 4',
      'MANIFEST_INVALID 6',
      'MANIFEST_INVALID 7',
    ])
  })
})

describe('[A2] the same system, however it was written', () => {
  const YAML = `
product: {name: lead-campaign}
defaults: {tz: Europe/Berlin}
events:
  lead.enriched: {payload: {lead_id: string!, score: number}}
  lead.matched:
agents:
  - name: persona-matcher
    trigger: {event: lead.enriched, filter: score > 3}
    emits: lead.matched
    config: {model: haiku, allowed_tools: [Read]}
    contract: {output_schema: {type: object, properties: {confidence: {type: number}}}}
    escalation_rules: [{condition: agent.confidence < 0.6, reason: Low confidence}]
functions:
  - name: send-email
    trigger: lead.matched
    retries: 2
    effect: once
    emits: [{event: email.sent, when: output.ok == true, delay: 5m, data: {lead_id: "{{payload.lead_id}}"}}]
    allowed_operations: [api_call, emit_event, schedule, db_write]
    persist: [{update: leads, set: {status: sent}, where: "id = {{payload.lead_id}}"}]
    db_lookups: [{table: leads, as: lead, where: "id = {{ payload.lead_id }}"}]
    state_in: new
    state_out: sent
    rate_limit: {limit: 3, period: 10s, key: payload.lead_id}
schedules:
  - {name: nightly, cron: "0 3 * * *", function: send-email}
pools: [{name: mail, labels: {region: eu}}]
limits: {shared: {letters: {limit: 5, period: 1s}}}
state_machine: {entity: lead, key: lead_id, initial: new, states: [{name: new, transitions_to: [sent]}, {name: sent, terminal: true}]}
`
  const inCode = defineSystem({
    name: 'lead-campaign',
    tz: 'Europe/Berlin',
    events: {
      'lead.enriched': jsonSchema({
        type: 'object',
        properties: { lead_id: { type: 'string' }, score: { type: 'number' } },
        required: ['lead_id'],
      }),
      'lead.matched': null,
      'email.sent': null,
    },
    agents: [
      agent('persona-matcher', {
        triggers: [{ event: 'lead.enriched', filter: 'payload.score > 3' }],
        emits: ['lead.matched'],
        model: 'haiku',
        allowedTools: ['Read'],
        outputSchema: { type: 'object', properties: { confidence: { type: 'number' } } },
        escalationRules: [{ condition: 'agent.confidence < 0.6', reason: 'Low confidence' }],
      }),
    ],
    functions: [
      {
        name: 'send-email',
        options: {
          triggers: ['lead.matched'],
          retry: { maxAttempts: 3 },
          effect: 'once',
          emits: [
            {
              event: 'email.sent',
              on: 'success',
              when: 'output.ok == true',
              delay: '5m',
              data: { lead_id: '{{payload.lead_id}}' },
            },
          ],
          allowedOperations: ['api_call', 'emit_event', 'schedule', 'db_write'],
          persist: [{ update: 'leads', set: { status: 'sent' }, where: 'id = {{payload.lead_id}}' }],
          dbLookups: [{ table: 'leads', as: 'lead', key: 'payload.lead_id' }],
          stateIn: ['new'],
          stateOut: 'sent',
          rateLimit: { limit: 3, period: '10s', key: 'payload.lead_id' },
        },
        code: null,
      },
    ],
    schedules: [{ name: 'nightly', cron: '0 3 * * *', function: 'send-email' }],
    pools: [{ name: 'mail', labels: { region: 'eu' } }],
    limits: { shared: { letters: { limit: 5, period: '1s' } } },
    stateMachines: [
      {
        entity: 'lead',
        key: 'payload.lead_id',
        initial: 'new',
        states: [
          { name: 'new', transitionsTo: ['sent'] },
          { name: 'sent', transitionsTo: [], terminal: true },
        ],
      },
    ],
  })

  const inYaml = (text: string): SystemSource => {
    const { manifest, findings } = loadManifest(text)
    if (manifest === null) throw new Error(JSON.stringify(findings))
    return sourceOf(manifest)
  }

  test('YAML and TypeScript give the same hash', () => expect(hashOf(inYaml(YAML))).toBe(hashOf(inCode)))

  test('any change of the YAML changes the hash', () => {
    for (const [from, to] of [
      ['retries: 2', 'retries: 3'],
      ['delay: 5m', 'delay: 6m'],
      ['state_out: sent', 'state_out: same'],
      ['transitions_to: [sent]', 'transitions_to: []'],
      ['score > 3', 'score > 4'],
      ['model: haiku', 'model: opus'],
      ['region: eu', 'region: us'],
      ['"0 3 * * *"', '"0 4 * * *"'],
      ['lead_id: string!', 'lead_id: string'],
    ] as const)
      expect(hashOf(inYaml(YAML.replace(from, to)))).not.toBe(hashOf(inCode))
  })

  test('the order and the spelling of keys do not change the hash', () =>
    expect(
      hashOf(inYaml(YAML.replace('rate_limit: {limit: 3, period: 10s,', 'rateLimit: {period: 10s, limit: 3,'))),
    ).toBe(hashOf(inCode)))
})

test('sections that have an effect: the tenant field of events, and the database of tables', () => {
  const { manifest, findings } = loadManifest(`product: {name: s}
tenancy: {identifier: tenant_id, isolation: {database: schema}}
database: {source: main.db, tables: [{name: lead}]}
functions:
  - {name: a, trigger: {table: leads}}
  - {name: b, trigger: {table: leads, database: other.db}}
`)
  const source = manifest === null ? null : sourceOf(manifest)
  expect(source?.tenancy).toEqual({ identifier: 'tenant_id' })
  expect(source?.functions?.map(({ options }) => options.triggers)).toMatchObject([
    [{ table: 'leads', database: 'main.db' }],
    [{ table: 'leads', database: 'other.db' }],
  ])
  const unused = findings.filter(({ code }) => code === 'LINT_NOT_USED').map(({ message }) => message.split(' ')[0])
  expect(unused).toEqual(['tenancy.isolation', 'database.tables'])
})

test('an unrelated mistake causes no finding about the agents of chats, and a list with a bad item is reported only once (15.1.1)', () => {
  const { findings } = loadManifest(`product: {name: s}
agents: [{name: helper, instructions: Help.}]
chats: [{name: desk, agent: helper}]
functions: [{name: f, retry: {max_attempts: 0}}, {name: g, triggers: [{file: "*.md", on: [create]}]}]
`)
  const errors = findings.filter(({ level }) => level === 'error')
  expect(errors.map(({ message }) => message)).toEqual([
    'maxAttempts must be a whole number from 1',
    'on[0]: "create" is not one of added, changed, removed, insert, update, delete',
  ])
})
