/** Manifests in the notations of other people: which load unchanged, their long form, and how they run. */
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildCommand, Folder } from '#test/support/serving/command.ts'

let folder: Folder
beforeAll(buildCommand)
beforeEach(() => {
  folder = new Folder({})
})
afterEach(() => folder.remove())

const MACHINE = {
  key: 'lead_id',
  states: [
    { name: 'new', transitions_to: ['matched'] },
    { name: 'matched', terminal: true },
  ],
}

// biome-ignore format: one form per row
const FORMS: readonly (readonly [title: string, text: string, longForm: object])[] = [
  ['a state machine without entity and initial', 'state_machine: {key: lead_id, states: [{name: new, transitions_to: [matched]}, {name: matched, terminal: true}]}',
    { state_machines: [{ ...MACHINE, entity: 'lead', initial: 'new' }] }],
  ['states as a map, and bare names', 'state_machine: {key: payload.lead_id, initial_state: new, states: {new: matched, matched: {terminal: true}}}',
    { state_machines: [{ ...MACHINE, key: 'payload.lead_id', entity: 'lead', initial: 'new' }] }],
  ['a machine that begins where no transition leads', 'state_machine: {key: lead_id, states: {matched: {terminal: true}, new: matched}}',
    { state_machines: [{ initial: 'new' }] }],
  ['a fan-in whose primary event has the timeout', 'functions: [{name: f, pattern: fan-in, trigger: {primary: {event: a.b, timeout: 2h}, wait_for: [{event: c.d}], correlation_key: payload.id}}]',
    { functions: [{ fan_in: { primary: 'a.b', wait_for: ['c.d'], correlation_key: 'payload.id', timeout: '2h' } }] }],
  ['words in camelCase and with hyphens', 'queues: [{name: q, onFull: dropOldest}, {name: r, on_full: drop-oldest}]',
    { queues: [{ on_full: 'drop_oldest' }, { on_full: 'drop_oldest' }] }],
  ['transitions beside the states', 'state_machines: {lead: {key: lead_id, states: [new, matched], transitions: [{from: new, to: matched}]}}',
    { state_machines: [{ entity: 'lead', key: 'lead_id', initial: 'new', states: [{ name: 'new', transitions_to: ['matched'] }, { name: 'matched' }] }] }],
  ['actors and tables as maps', 'database: {actors: {sales: {description: People}, admin: May do all}, tables: {leads: {columns: {id: uuid, email: {type: text, nullable: true}}, access: {sales: [read]}}}}',
    { database: {
      actors: [{ name: 'sales', description: 'People' }, { name: 'admin', description: 'May do all' }],
      tables: [{ name: 'leads', columns: [{ name: 'id', type: 'uuid' }, { name: 'email', type: 'text', nullable: true }], access: [{ actor: 'sales', operations: ['read'] }] }],
    } }],
  ['prose in the steps of a function', 'functions: [{name: f, steps: ["Load the lead", {action: Send it, on_failure: "Log it and go on with the next lead"}]}]',
    { functions: [{ steps: [{ name: 'Load the lead' }, { name: 'send-it', action: 'Send it', on_failure: 'Log it and go on with the next lead' }] }] }],
  ['a webhook path that another gateway owns, without a secret', 'webhooks: [{name: mail, path: /api/webhooks/resend, emits: mail.came}]',
    { webhooks: [{ name: 'mail', path: '/api/webhooks/resend', emits: 'mail.came' }] }],
  ['static folders with a field of the payload, and static files by their paths', 'agents: [{name: a, contract: {context_in: {static: [{source: "personas/{segment}/", dest: personas/}, brand.md]}}}]',
    { agents: [{ contract: { context_in: { static: [{ source: 'personas/{{payload.segment}}/', dest: 'personas/' }, { source: 'brand.md', dest: 'brand.md' }] } } }] }],
  ['executors, elsewhere and beside the manifest', 'executors: {fax: {url: "https://fax.example", secret: MTIz}, printer: {description: The one upstairs}}',
    { executors: [{ name: 'fax', url: 'https://fax.example', secret: 'MTIz' }, { name: 'printer', description: 'The one upstairs' }] }],
]

const SUBTASKS = `
subtask:
  name: "Personalize EEX templates"
  type: "transform"
  assigned_to: "workflow"
  workflow_config:
    function_name: "personalize-eex"
    inputs:
      template_ids: ["eex_1", "eex_2"]
      variables:
        first_name: "{{lead.first_name}}"
`

const AGENT_STEP = `
agent_step:
  # Configuration
  agent_id: string                # Which agent configuration to use
  inputs:
    workspace_path: string        # Hydrated context directory
    context_in:
      db_records: json[]          # Data from database
      static_files: string[]      # Paths to config files
    prompt_source: string         # Path to CLAUDE.md
  allowed_tools:
    - Read
    - Write
    # etc.
  output_schema: zod_schema       # Structured output definition
  outputs:
    artifacts: file_path[]        # Files created
    structured_output: json       # Matching output_schema
    token_usage:
      input_tokens: integer
      output_tokens: integer
    duration_ms: integer
`

const HUMAN_STEP = `
human_step:
  task_type: enum                 # approval, input, review, decision
  inputs:
    approval_bundle_id: uuid?     # For approval tasks
    context: json                 # Supporting information
    instructions: text            # What the human should do
  allowed_actions:
    - approve
    - reject
    - edit
    - reassign
    - escalate
  required_fields: string[]?      # Fields human must provide
  deadline: timestamp?            # When this must be done
  outputs:
    decision: string              # Which action taken
    decided_at: timestamp
`

const WORKFLOW_STEP = `
workflow_step:
  function_name: string           # Inngest function or handler
  inputs:
    event_payload: json           # Triggering event data
    db_lookups:                   # Required data queries
      - table: string
        query: string
        as: string                # Variable name
  allowed_operations:
    - transform                   # Data manipulation
    - api_call                    # External service
  outputs:
    result: json                  # Operation result
    duration_ms: integer
`

describe('notations of other people', () => {
  test.each(FORMS)('%s load unchanged and have a long form (15.1.2)', async (_, text, longForm) => {
    folder.write('manifest.yaml', `product: {name: s}\n${text}\n`)
    expect(await folder.json(['manifest', 'print'])).toMatchObject(longForm)
    expect((await folder.run(['manifest', 'graph'])).code).toBe(0)
  })

  test.each([
    ['subtask', SUBTASKS, { name: 'Personalize EEX templates', assigned_to: 'workflow' }],
    ['agent_step', AGENT_STEP, { assigned_to: 'agent' }],
    [
      'human_step',
      HUMAN_STEP,
      { human_config: { allowed_actions: ['approve', 'reject', 'edit', 'reassign', 'escalate'] } },
    ],
    ['workflow_step', WORKFLOW_STEP, { assigned_to: 'workflow' }],
  ])(
    'a document with %s at the top is a plan of one step, and can be drawn and run (15.1.2)',
    async (_, text, step) => {
      folder.write('manifest.yaml', text)
      expect((await folder.json(['manifest', 'print'])).plans).toMatchObject([{ steps: [step] }])
      expect((await folder.run(['simulate'])).stdout).toContain('handlers: 1 of 1 reached')
    },
  )
})

const UNSIGNED = `product: {name: s}
events: [{name: mail.came, terminal: true}]
webhooks: [{name: mail, path: /api/webhooks/resend, emits: mail.came}]
`

test('a webhook without a secret is a warning in validate, and is refused when it would be served (15.1.2)', async () => {
  folder.write('manifest.yaml', UNSIGNED)
  const { code, stdout } = await folder.run(['manifest', 'validate'])
  expect([code, stdout]).toEqual([0, expect.stringContaining('manifest.yaml:3:12 warning LINT_WEBHOOK_UNSIGNED mail')])
  expect(stdout).toContain('this server has mail at /hooks/mail')
  expect((await folder.run(['send', 'mail.came', '{}'])).code).toBe(0)
  const served = await folder.run(['dev', '--port', '0'])
  expect([served.code, served.stderr]).toEqual([4, expect.stringContaining('WEBHOOK_UNSIGNED')])
})

const AGENT = `product: {name: s}
events: [{name: lead.came, source: external}]
agents:
  - name: judge
    trigger: lead.came
    instructions: Judge.
    config: {allowed_tools: [Read]}
    contract:
      context_in:
        static: [{source: "personas/{segment}/", dest: personas/}]
`

test('a static folder with a field is copied whole; a template in Handlebars names the package to install (15.1.2)', async () => {
  folder.write('manifest.yaml', AGENT)
  folder.write('personas/retail/owner.md', 'owns shops')
  folder.write('personas/retail/deep/clerk.md', 'sells')
  folder.write(
    'scripts/judge.yaml',
    'agent: judge\nanswers:\n  - {turn: 1, calls: [{tool: Read, input: {file_path: personas/deep/clerk.md}}]}\n  - {after: Read, last: [sells], say: done}\n',
  )
  const results = async (data: string) =>
    JSON.parse((await folder.run(['send', 'lead.came', data, '--wait', '20s', '--json'])).stdout).results
  expect(await results('{"segment":"retail"}')).toMatchObject([{ handler: 'judge', status: 'success' }])
  expect(await results('{"segment":"none"}')).toMatchObject([{ error: { code: 'CONTEXT_MISSING' } }])
  folder.write('lead.hbs', '{{#each rows}}{{id}}{{/each}}')
  const rows = 'from_db: [{table: leads, as: leads.md, template: lead.hbs, where: "id = 1"}]'
  folder.write('manifest.yaml', AGENT.replace(/static: .*/, rows))
  const message = expect.stringContaining('lead.hbs is a Handlebars template; run: npm install handlebars')
  expect(await results('{}')).toMatchObject([{ error: { code: 'TEMPLATE_UNSUPPORTED', message } }])
})

const STATES = `product: {name: s}
state_machine: {key: lead_id, states: {new: [matched, lost], matched: [won], won: {terminal: true}, lost: {terminal: true}, odd: {terminal: true}}}
events:
  - {name: lead.came, source: external, payload: {lead_id: string!}}
  - {name: lead.won, terminal: true}
functions:
  - {name: match-lead, trigger: lead.came, emits: lead.matched}
  - {name: close-lead, trigger: lead.matched, emits: lead.won}
`

test('functions without code move entities along declared transitions; an unreachable state has a reason (15.1.2)', async () => {
  folder.write('manifest.yaml', STATES)
  const { stdout } = await folder.run(['simulate', '--json'])
  const { states } = JSON.parse(stdout)
  expect(states.reached).toEqual(expect.arrayContaining(['lead.new', 'lead.matched', 'lead.won']))
  expect(states.missed).toContainEqual({ name: 'lead.odd', why: 'no transition leads to it' })
})

const EXECUTORS = `product: {name: s}
executors: {printer: {description: The one upstairs}}
functions: [{name: print-it}]
`

test('an executor of the folder performs steps of its type by the executor contract (15.1.2)', async () => {
  folder.write('manifest.yaml', EXECUTORS)
  folder.write(
    'functions/print-it.ts',
    "export default ({ step }) => step.execute('p', { type: 'printer', task: { task_type: 'page', text: 'hi' } })\n",
  )
  expect((await folder.run(['manifest', 'validate'])).stdout).toContain('expected executors/printer.ts')
  folder.write(
    'executors/printer.ts',
    "export default async ({ task }) => ({ status: 'success', result: task.text + '!', model_used: 'ink' })\n",
  )
  const { status, output } = await folder.json(['run', 'print-it', '--wait', '20s'])
  expect([status, output.result]).toEqual(['success', 'hi!'])
})
