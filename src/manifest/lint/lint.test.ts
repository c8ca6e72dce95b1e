/** [A3] Every row of the lint table, each with the place it is told at; and that a clean manifest is told nothing. */
import { describe, expect, test } from 'vitest'
import type { Finding } from '#manifest/yaml/finding.ts'
import { loadManifest } from '#manifest/yaml/load.ts'
import type { Surroundings } from './lint.ts'

const NOWHERE: Surroundings = { folder: null, environment: null }

const found = (text: string, code: string, around: Surroundings = NOWHERE): readonly Finding[] =>
  loadManifest(text, 'manifest.yaml', around).findings.filter((finding) => finding.code === code)

const told = (text: string, code: string, around?: Surroundings): readonly unknown[] =>
  found(text, code, around).map(({ level, line, column }) => [level, line, column])

const SHOP = `product: {name: shop}
events:
  - {name: order.placed, source: external, payload: {id: string!, total: number}}
  - {name: order.paid, payload: {id: string!, paid_at: timestamp!}}
  - {name: order.closed, terminal: true}
`

describe('[A3] events', () => {
  test('a chain from outside to an end is told nothing but the end', () => {
    const text = `${SHOP}functions:
  - {name: pay, trigger: order.placed, emits: [order.paid]}
  - {name: close, trigger: order.paid, emits: [order.closed]}
`
    const { findings } = loadManifest(text)
    expect(findings.map(({ level, code }) => [level, code])).toEqual([['info', 'LINT_EVENT_UNHEARD']])
    expect(findings[0]?.hint).toContain('declared as an end')
  })

  test('sent, and nobody listens', () =>
    expect(
      told(`${SHOP}functions:\n  - {name: f, trigger: order.placed, emits: [order.paid]}\n`, 'LINT_EVENT_UNHEARD'),
    ).toEqual([['warning', 7, 46]]))

  test('heard, and nothing produces it; what is sent with the same stem is named', () => {
    const text = `${SHOP}functions:\n  - {name: f, trigger: order.placed, emits: [order.payed]}\n  - {name: g, trigger: order.paid}\n`
    expect(told(text, 'LINT_EVENT_UNPRODUCED')).toEqual([['warning', 8, 24]])
    expect(found(text, 'LINT_EVENT_UNPRODUCED')[0]?.message).toContain('order.payed')
  })

  test.each([
    ['a webhook', 'webhooks: [{name: w, emits: order.paid, auth: none, unsigned: true}]'],
    ['a schedule', 'schedules: [{name: s, every: 1h, emit: order.paid}]'],
    [
      'a person’s action',
      'humans: [{name: h, trigger: order.placed, actions: [{name: pay, emits_event: order.paid}]}]',
    ],
    ['another function', 'agents: [{name: a, trigger: order.placed, emits: order.paid}]'],
  ])('what %s sends is produced', (_, section) =>
    expect(found(`${SHOP}functions: [{name: g, trigger: order.paid}]\n${section}\n`, 'LINT_EVENT_UNPRODUCED')).toEqual(
      [],
    ),
  )

  test('what the system tells itself may be heard', () =>
    expect(
      found(
        `${SHOP}functions: [{name: g, triggers: [agent.failed, human.decided, workflow.retrying]}]\nagents: [{name: a, trigger: order.placed}]\n`,
        'LINT_EVENT_UNPRODUCED',
      ),
    ).toEqual([]))

  test.each([
    ['agent.finished', 'did you mean agent.'],
    ['workflow.complete', 'did you mean workflow.completed?'],
    ['human.aproved', 'is never told'],
    ['agent.failed', 'there is no agent to tell it'],
  ])('[D3] %s is a lifecycle event that nobody tells', (type, words) => {
    const text = `${SHOP}functions:\n  - {name: g, trigger: ${type}}\n  - {name: h, trigger: order.placed, waits: [${type}]}\n`
    expect(told(text, 'LINT_EVENT_UNPRODUCED')).toEqual([['warning', 7, 24]])
    expect(found(text, 'LINT_EVENT_UNPRODUCED')[0]?.message).toContain(words)
  })

  test('an event that a function waits for is heard', () => {
    const text = `${SHOP}functions:
  - {name: pay, trigger: order.placed, emits: [order.paid]}
  - {name: close, trigger: order.placed, waits: [order.paid]}
`
    expect(found(text, 'LINT_EVENT_UNHEARD')).toEqual([])
    expect(found(text, 'LINT_NOT_USED')).toEqual([])
  })

  test('named only, with the declared name that is meant', () => {
    const text = `${SHOP}functions:\n  - {name: f, trigger: order.plaed}\n`
    expect(found(text, 'LINT_EVENT_UNDECLARED')).toMatchObject([{ level: 'warning', line: 7, column: 24 }])
    expect(found(text, 'LINT_EVENT_UNDECLARED')[0]?.message).toContain('did you mean order.placed?')
  })

  test('an agent that always sends two', () =>
    expect(told(`${SHOP}agents:\n  - {name: a, emits: [order.paid, order.closed]}\n`, 'LINT_EMIT_AMBIGUOUS')).toEqual([
      ['warning', 7, 35],
    ]))
})

describe('[A3] circles', () => {
  const circle = (extra: string): string => `product: {name: s}
functions:
  - {name: ping, trigger: pong.sent, emits: ping.sent}
  - {name: pong, trigger: ping.sent, emits: pong.sent${extra}}
`
  test('of handlers without a bound', () => {
    expect(told(circle(''), 'LINT_CYCLE')).toEqual([['warning', 3, 5]])
    expect(found(circle(''), 'LINT_CYCLE')[0]?.message).toContain('ping → pong → ping')
  })

  test.each([', allow_reentry: 3', ', rate_limit: {limit: 1, period: 10s}', ', throttle: {limit: 1, period: 10s}'])(
    'with %s there is none',
    (extra) => expect(found(circle(extra), 'LINT_CYCLE')).toEqual([]),
  )

  test('[D3] of an agent that starts when an agent is done, itself too; not if it says whose', () => {
    const agents = (filter: string): string =>
      `product: {name: s}\nagents:\n  - {name: a, trigger: {event: agent.completed${filter}}}\n  - {name: b, trigger: go}\n`
    expect(found(agents(''), 'LINT_CYCLE')[0]?.message).toContain('a → a is a circle')
    expect(found(agents(', filter: \'payload.handler == "b"\''), 'LINT_CYCLE')).toEqual([])
  })

  test('[D3] a function that hears of every failure is none', () =>
    expect(found('product: {name: s}\nfunctions: [{name: f, trigger: workflow.failed}]\n', 'LINT_CYCLE')).toEqual([]))

  test('through a person there is none', () => {
    const text = `product: {name: s}
functions: [{name: ping, trigger: pong.sent, emits: ping.sent}]
humans: [{name: pong, trigger: ping.sent, actions: [{name: send, emits_event: pong.sent}]}]
`
    expect(found(text, 'LINT_CYCLE')).toEqual([])
  })
})

describe('[A4] schemas', () => {
  const agent = (output: string, emit: string): string => `${SHOP}agents:
  - name: a
    trigger: order.placed
    contract: {output_schema: {type: object, properties: {${output}}}}
    emits:
      - ${emit}
`
  test('a required field that nothing gives', () =>
    expect(told(agent('', 'order.paid'), 'LINT_SCHEMA_MISMATCH')).toEqual([['warning', 11, 9]]))

  test('a field of another type', () => {
    const text = agent('paid_at: {type: number}', 'order.paid')
    expect(found(text, 'LINT_SCHEMA_MISMATCH')[0]?.message).toBe(
      'order.paid declares paid_at as string, and gets number',
    )
  })

  test.each([
    ['the output gives it', agent('paid_at: {type: string}', 'order.paid')],
    ['data gives it', agent('', '{event: order.paid, data: {id: "{{payload.id}}", paid_at: "{{output.at}}"}}')],
    ['a function may answer anything', `${SHOP}functions: [{name: f, trigger: order.placed, emits: order.paid}]\n`],
  ])('%s', (_, text) => expect(found(text, 'LINT_SCHEMA_MISMATCH')).toEqual([]))

  test('data that leaves a required field out', () =>
    expect(told(agent('', '{event: order.paid, data: {id: x}}'), 'LINT_SCHEMA_MISMATCH')).toHaveLength(1))
})

describe('[A3] states', () => {
  const machine = (states: string, enforce = 'warn'): string => `product: {name: s}
state_machine:
  entity: order
  initial: new
  enforce: ${enforce}
  states:
    - {name: new, transitions_to: [paid]}
    - {name: paid, terminal: true}
${states}`

  test.each([
    ['LINT_STATE_UNREACHABLE', '    - {name: lost, terminal: true}\n', 9, 7],
    ['LINT_STATE_DEAD_END', '    - {name: lost}\n', 9, 7],
    ['LINT_STATE_UNKNOWN', '    - {name: lost, transitions_to: [payd]}\n', 9, 36],
  ])('%s', (code, states, line, column) => {
    expect(told(machine(states), code)).toEqual([['warning', line, column]])
    expect(told(machine(states, 'strict'), code)).toEqual([['error', line, column]])
  })

  test('a handler that names a state nobody declared', () => {
    const text = machine('functions:\n  - {name: f, state_in: new, state_out: payd}\n')
    expect(told(text, 'LINT_STATE_UNKNOWN')).toEqual([['warning', 10, 41]])
    expect(
      found(machine('functions:\n  - {name: f, state_in: [new], state_out: same}\n'), 'LINT_STATE_UNKNOWN'),
    ).toEqual([])
  })
})

describe('hands', () => {
  test('a rule over a field that the answer does not have', () => {
    const text = `product: {name: s}
agents:
  - name: a
    contract: {output_schema: {type: object, properties: {category: {type: string}}}}
    escalation_rules:
      - {condition: agent.confidence < 0.6}
      - {condition: "agent.output.category == 'x'"}
`
    expect(told(text, 'LINT_ESCALATION_FIELD')).toEqual([['warning', 6, 21]])
  })

  test('a tool that the parent may not use', () => {
    const text =
      'product: {name: s}\nagents:\n  - {name: a, config: {allowed_tools: [Read], subagents: [{name: b, tools: [Read, Bash]}]}}\n'
    expect(told(text, 'LINT_TOOL_WIDER')).toEqual([['warning', 3, 76]])
  })

  test('a tool that the module does not list', () => {
    const text = `product: {name: s}
modules: [{name: m, tools: [Read, mail.*]}]
agents:
  - {name: a, module: m, config: {allowed_tools: [Read, mail.send, Bash]}}
`
    expect(told(text, 'LINT_TOOL_WIDER')).toEqual([['warning', 4, 50]])
    expect(told(text.replace('tools: [Read, mail.*]', 'functions: [a]'), 'LINT_TOOL_WIDER')).toEqual([])
  })

  test('[N9] a module whose functions run in the process of the host says so, and where isolated code is expected (15.2)', () => {
    const text = `product: {name: s}
modules:
  - {name: m, functions: [f]}
  - {name: n, functions: [g], isolation: process}
  - {name: o}
functions: [{name: f}, {name: g}]
`
    expect(told(text, 'LINT_NOT_ISOLATED')).toEqual([['info', 3, 5]])
    const around = { folder: { paths: ['functions/g.ts', 'functions/f.ts'] }, environment: null } as never
    expect(found(text, 'LINT_HANDLER_MISSING', around).map(({ message }) => message)).toEqual([
      'g has no code yet; expected modules/n/g.ts',
    ])
  })

  test('a timeout that approves what cannot be undone', () => {
    const text = `product: {name: s}
humans: [{name: h, trigger: {event: a.b}, deadline: 1d, auto_action_on_timeout: approve, actions: [{name: approve, emits_event: b.c}]}]
functions: [{name: send, trigger: b.c, effect: once}]
`
    expect(told(text, 'LINT_AUTO_APPROVE')).toEqual([['warning', 2, 81]])
  })

  test('a root of expressions that is a field too', () => {
    const text = `product: {name: s}
events: [{name: a.b, payload: {run: string}}]
functions: [{name: f, trigger: {event: a.b, filter: run == "x"}}]
`
    expect(told(text, 'LINT_NAME_SHADOWED')).toEqual([['warning', 3, 53]])
  })
})

describe('the world around', () => {
  const around = (paths: readonly string[]): Surroundings => ({
    folder: { paths, read: () => '' },
    environment: new Set(['SET']),
  })

  test('no code yet, no prompt, a file that belongs to nobody', () => {
    const text = 'product: {name: s}\nfunctions: [{name: f}, {name: g}]\nagents: [{name: a}]\n'
    const files = around(['functions/g.ts', 'functions/old.ts'])
    expect(told(text, 'LINT_HANDLER_MISSING', files)).toEqual([['info', 2, 13]])
    expect(told(text, 'LINT_FILE_MISSING', files)).toEqual([['warning', 3, 10]])
    expect(found(text, 'LINT_UNUSED_FILE', files)).toHaveLength(1)
    expect(told(text, 'LINT_FILE_MISSING', around(['agents/a/CLAUDE.md']))).toEqual([])
  })

  test('a template that is not there, one in its folder, and one that leaves', () => {
    const text = (template: string): string =>
      `product: {name: s}\nagents:\n  - {name: a, prompt: p.md, contract: {context_in: {from_db: [{table: t, as: t.md, template: ${template}}]}}}\n`
    const files = around(['p.md', 'templates/t.liquid'])
    expect(told(text('x.liquid'), 'LINT_FILE_MISSING', files)).toEqual([['warning', 3, 94]])
    expect(told(text('t.liquid'), 'LINT_FILE_MISSING', files)).toEqual([])
    expect(told(text('../t.liquid'), 'PATH_ESCAPE', files)).toEqual([['error', 3, 94]])
  })

  test('a file whose name differs in case', () =>
    expect(
      told('product: {name: s}\nfunctions: [{name: send}]\n', 'FILE_NAME_CASE', around(['functions/Send.ts'])),
    ).toEqual([['error', 2, 13]]))

  test('variables that are not set, and secrets that are written out', () => {
    const text = `product: {name: s}
integrations:
  mail: {api_key: "\${SET}", url: "\${MISSING}", other: "\${ELSE:-x}"}
  sms: {token: abc123}
`
    expect(told(text, 'LINT_ENV_MISSING', around([]))).toEqual([['warning', 3, 34]])
    expect(told(text, 'LINT_SECRET_LITERAL', around([]))).toEqual([['warning', 4, 16]])
  })

  test('access that nobody enforces, and conditions that nobody can read', () => {
    const text = `product: {name: s}
database:
  tables:
    - {name: t, access: [{actor: a, condition: "owner = :actor"}, {actor: b, condition: "age > 3 OR x"}]}
functions:
  - {name: f, persist: [{update: t, set: {a: 1}, where: "id = 1 OR 1 = 1"}]}
`
    expect(told(text, 'LINT_ACCESS_NOT_ENFORCED')).toEqual([['warning', 4, 89]])
    expect(told(text, 'CONDITION_UNSUPPORTED')).toEqual([['error', 6, 57]])
  })
})

describe('plans', () => {
  const plan = (steps: string): string => `product: {name: s}\nplans:\n  - name: p\n    steps:\n${steps}`

  test.each([
    [
      'PLAN_CYCLE',
      'error',
      '      - {id: a, type: email, requires: [b]}\n      - {id: b, type: email, inputs: {x: "{{steps.a.output}}"}}\n',
      5,
    ],
    ['PLAN_BAD_REF', 'error', '      - {id: a, type: email, requires: [c]}\n', 5],
    ['PLAN_UNASSIGNED', 'warning', '      - {id: a}\n', 5],
  ])('%s', (code, level, steps, line) => expect(told(plan(steps), code)).toEqual([[level, line, 9]]))
})

test('a schedule without a zone, and one that never fires', () => {
  const text = (cron: string): string =>
    `product: {name: s}\nfunctions: [{name: f}]\nschedules:\n  - {name: x, cron: "${cron}", function: f}\n`
  expect(told(text('0 3 * * *'), 'LINT_SCHEDULE_TZ')).toEqual([['warning', 4, 5]])
  expect(told(text('0 3 30 2 *'), 'SCHEDULE_NEVER_FIRES')).toEqual([['error', 4, 5]])
})

test('policies that exclude each other', () => {
  const text =
    'product: {name: s}\nfunctions:\n  - name: f\n    trigger: a.b\n    batch: {max_size: 3}\n    debounce: {period: 1s}\n'
  expect(told(text, 'POLICY_CONFLICT')).toEqual([['error', 3, 5]])
})

test('what has no effect yet is said', () =>
  expect(told('product: {name: s}\nsession_pools: [{name: q}]\n', 'LINT_NOT_USED')).toEqual([['info', 2, 1]]))

test('a queue that nobody works through is found', () => {
  const reader = 'functions: [{name: f, mode: daemon, source: {queue: q}}]\n'
  const text = 'product: {name: s}\nqueues: [{name: q}]\n'
  expect(told(text, 'LINT_QUEUE_UNREAD')).toEqual([['warning', 2, 10]])
  expect(told(text + reader, 'LINT_QUEUE_UNREAD')).toEqual([])
  expect(told(text + reader, 'LINT_NOT_USED')).toEqual([])
})
