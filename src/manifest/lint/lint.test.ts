/** [A3] Every row of the lint table, each with the place at which it is reported; and that a clean manifest has no findings. */
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
  test('a chain from an external to a terminal event has only the finding about its end', () => {
    const text = `${SHOP}functions:
  - {name: pay, trigger: order.placed, emits: [order.paid]}
  - {name: close, trigger: order.paid, emits: [order.closed]}
`
    const { findings } = loadManifest(text)
    expect(findings.map(({ level, code }) => [level, code])).toEqual([['info', 'LINT_EVENT_UNHEARD']])
    expect(findings[0]?.hint).toContain('declared as terminal')
  })

  test('an event that is sent and has no listener is found', () =>
    expect(
      told(`${SHOP}functions:\n  - {name: f, trigger: order.placed, emits: [order.paid]}\n`, 'LINT_EVENT_UNHEARD'),
    ).toEqual([['warning', 7, 46]]))

  test('an event with a listener and no sender is found, and a similar event that is sent is suggested', () => {
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
  ])('an event sent by %s counts as produced', (_, section) =>
    expect(found(`${SHOP}functions: [{name: g, trigger: order.paid}]\n${section}\n`, 'LINT_EVENT_UNPRODUCED')).toEqual(
      [],
    ),
  )

  test('lifecycle events may have listeners', () =>
    expect(
      found(
        `${SHOP}functions: [{name: g, triggers: [agent.failed, human.decided, workflow.retrying]}]\nagents: [{name: a, trigger: order.placed}]\n`,
        'LINT_EVENT_UNPRODUCED',
      ),
    ).toEqual([]))

  test.each([
    ['agent.finished', 'did you mean agent.'],
    ['workflow.complete', 'did you mean workflow.completed?'],
    ['human.aproved', 'is never sent'],
    ['agent.failed', 'no agent sends it'],
  ])('[D3] the unknown lifecycle event %s is found', (type, words) => {
    const text = `${SHOP}functions:\n  - {name: g, trigger: ${type}}\n  - {name: h, trigger: order.placed, waits: [${type}]}\n`
    expect(told(text, 'LINT_EVENT_UNPRODUCED')).toEqual([['warning', 7, 24]])
    expect(found(text, 'LINT_EVENT_UNPRODUCED')[0]?.message).toContain(words)
  })

  test('an event that a function waits for has a listener', () => {
    const text = `${SHOP}functions:
  - {name: pay, trigger: order.placed, emits: [order.paid]}
  - {name: close, trigger: order.placed, waits: [order.paid]}
`
    expect(found(text, 'LINT_EVENT_UNHEARD')).toEqual([])
    expect(found(text, 'LINT_NOT_USED')).toEqual([])
  })

  test('an undeclared event is found, with a declared name as a suggestion', () => {
    const text = `${SHOP}functions:\n  - {name: f, trigger: order.plaed}\n`
    expect(found(text, 'LINT_EVENT_UNDECLARED')).toMatchObject([{ level: 'warning', line: 7, column: 24 }])
    expect(found(text, 'LINT_EVENT_UNDECLARED')[0]?.message).toContain('did you mean order.placed?')
  })

  test('an agent that always sends two events is found', () =>
    expect(told(`${SHOP}agents:\n  - {name: a, emits: [order.paid, order.closed]}\n`, 'LINT_EMIT_AMBIGUOUS')).toEqual([
      ['warning', 7, 35],
    ]))
})

describe('[A3] cycles', () => {
  const circle = (extra: string): string => `product: {name: s}
functions:
  - {name: ping, trigger: pong.sent, emits: ping.sent}
  - {name: pong, trigger: ping.sent, emits: pong.sent${extra}}
`
  test('of handlers without a limit are found', () => {
    expect(told(circle(''), 'LINT_CYCLE')).toEqual([['warning', 3, 5]])
    expect(found(circle(''), 'LINT_CYCLE')[0]?.message).toContain('ping → pong → ping')
  })

  test.each([', allow_reentry: 3', ', rate_limit: {limit: 1, period: 10s}', ', throttle: {limit: 1, period: 10s}'])(
    'with %s are not found',
    (extra) => expect(found(circle(extra), 'LINT_CYCLE')).toEqual([]),
  )

  test('[D3] of an agent that starts when any agent completes are found; not if it filters by handler', () => {
    const agents = (filter: string): string =>
      `product: {name: s}\nagents:\n  - {name: a, trigger: {event: agent.completed${filter}}}\n  - {name: b, trigger: go}\n`
    expect(found(agents(''), 'LINT_CYCLE')[0]?.message).toContain('a → a is a cycle')
    expect(found(agents(', filter: \'payload.handler == "b"\''), 'LINT_CYCLE')).toEqual([])
  })

  test('[D3] do not include a function that listens to every failure', () =>
    expect(found('product: {name: s}\nfunctions: [{name: f, trigger: workflow.failed}]\n', 'LINT_CYCLE')).toEqual([]))

  test('are not found through a person', () => {
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
  test('a required field that nothing provides is found', () =>
    expect(told(agent('', 'order.paid'), 'LINT_SCHEMA_MISMATCH')).toEqual([['warning', 11, 9]]))

  test('a field of another type is found', () => {
    const text = agent('paid_at: {type: number}', 'order.paid')
    expect(found(text, 'LINT_SCHEMA_MISMATCH')[0]?.message).toBe(
      'order.paid declares paid_at as string, but gets number',
    )
  })

  test.each([
    ['the output gives it', agent('paid_at: {type: string}', 'order.paid')],
    ['data gives it', agent('', '{event: order.paid, data: {id: "{{payload.id}}", paid_at: "{{output.at}}"}}')],
    ['a function may answer anything', `${SHOP}functions: [{name: f, trigger: order.placed, emits: order.paid}]\n`],
  ])('%s', (_, text) => expect(found(text, 'LINT_SCHEMA_MISMATCH')).toEqual([]))

  test('data without a required field is found', () =>
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

  test('a handler that names an undeclared state is found', () => {
    const text = machine('functions:\n  - {name: f, state_in: new, state_out: payd}\n')
    expect(told(text, 'LINT_STATE_UNKNOWN')).toEqual([['warning', 10, 41]])
    expect(
      found(machine('functions:\n  - {name: f, state_in: [new], state_out: same}\n'), 'LINT_STATE_UNKNOWN'),
    ).toEqual([])
  })
})

describe('handlers', () => {
  test('a rule over a field that the answer does not have is found', () => {
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

  test('a tool that the parent may not use is found', () => {
    const text =
      'product: {name: s}\nagents:\n  - {name: a, config: {allowed_tools: [Read], subagents: [{name: b, tools: [Read, Bash]}]}}\n'
    expect(told(text, 'LINT_TOOL_WIDER')).toEqual([['warning', 3, 76]])
  })

  test('a tool that the module does not list is found', () => {
    const text = `product: {name: s}
modules: [{name: m, tools: [Read, mail.*]}]
agents:
  - {name: a, module: m, config: {allowed_tools: [Read, mail.send, Bash]}}
`
    expect(told(text, 'LINT_TOOL_WIDER')).toEqual([['warning', 4, 50]])
    expect(told(text.replace('tools: [Read, mail.*]', 'functions: [a]'), 'LINT_TOOL_WIDER')).toEqual([])
  })

  test("[N9] a module whose functions run in the host's process is found, and the path of missing isolated code is named (15.2)", () => {
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

  test('a timeout that approves an irreversible effect is found', () => {
    const text = `product: {name: s}
humans: [{name: h, trigger: {event: a.b}, deadline: 1d, auto_action_on_timeout: approve, actions: [{name: approve, emits_event: b.c}]}]
functions: [{name: send, trigger: b.c, effect: once}]
`
    expect(told(text, 'LINT_AUTO_APPROVE')).toEqual([['warning', 2, 81]])
  })

  test('a field that is named like a root of expressions is found', () => {
    const text = `product: {name: s}
events: [{name: a.b, payload: {run: string}}]
functions: [{name: f, trigger: {event: a.b, filter: run == "x"}}]
`
    expect(told(text, 'LINT_NAME_SHADOWED')).toEqual([['warning', 3, 53]])
  })
})

describe('surroundings', () => {
  const around = (paths: readonly string[]): Surroundings => ({
    folder: { paths, read: () => '' },
    environment: new Set(['SET']),
  })

  test('missing code, a missing prompt and an unused file are found', () => {
    const text = 'product: {name: s}\nfunctions: [{name: f}, {name: g}]\nagents: [{name: a}]\n'
    const files = around(['functions/g.ts', 'functions/old.ts'])
    expect(told(text, 'LINT_HANDLER_MISSING', files)).toEqual([['info', 2, 13]])
    expect(told(text, 'LINT_FILE_MISSING', files)).toEqual([['warning', 3, 10]])
    expect(found(text, 'LINT_UNUSED_FILE', files)).toHaveLength(1)
    expect(told(text, 'LINT_FILE_MISSING', around(['agents/a/CLAUDE.md']))).toEqual([])
  })

  test('a missing template and one outside of the folder are found, one in its folder is not', () => {
    const text = (template: string): string =>
      `product: {name: s}\nagents:\n  - {name: a, prompt: p.md, contract: {context_in: {from_db: [{table: t, as: t.md, template: ${template}}]}}}\n`
    const files = around(['p.md', 'templates/t.liquid'])
    expect(told(text('x.liquid'), 'LINT_FILE_MISSING', files)).toEqual([['warning', 3, 94]])
    expect(told(text('t.liquid'), 'LINT_FILE_MISSING', files)).toEqual([])
    expect(told(text('../t.liquid'), 'PATH_ESCAPE', files)).toEqual([['error', 3, 94]])
  })

  test('a file whose name differs in case is found', () =>
    expect(
      told('product: {name: s}\nfunctions: [{name: send}]\n', 'FILE_NAME_CASE', around(['functions/Send.ts'])),
    ).toEqual([['error', 2, 13]]))

  test('unset variables and secrets in plain text are found', () => {
    const text = `product: {name: s}
integrations:
  mail: {api_key: "\${SET}", url: "\${MISSING}", other: "\${ELSE:-x}"}
  sms: {token: abc123}
`
    expect(told(text, 'LINT_ENV_MISSING', around([]))).toEqual([['warning', 3, 34]])
    expect(told(text, 'LINT_SECRET_LITERAL', around([]))).toEqual([['warning', 4, 16]])
  })

  test('access rules that are not enforced and conditions that cannot be parsed are found', () => {
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

test('a schedule without a zone and one that never fires are found', () => {
  const text = (cron: string): string =>
    `product: {name: s}\nfunctions: [{name: f}]\nschedules:\n  - {name: x, cron: "${cron}", function: f}\n`
  expect(told(text('0 3 * * *'), 'LINT_SCHEDULE_TZ')).toEqual([['warning', 4, 5]])
  expect(told(text('0 3 30 2 *'), 'SCHEDULE_NEVER_FIRES')).toEqual([['error', 4, 5]])
})

test('policies that exclude each other are found', () => {
  const text =
    'product: {name: s}\nfunctions:\n  - name: f\n    trigger: a.b\n    batch: {max_size: 3}\n    debounce: {period: 1s}\n'
  expect(told(text, 'POLICY_CONFLICT')).toEqual([['error', 3, 5]])
})

test('sections without effect are found', () =>
  expect(told('product: {name: s}\nsession_pools: [{name: q}]\n', 'LINT_NOT_USED')).toEqual([['info', 2, 1]]))

test('a queue without a handler is found', () => {
  const reader = 'functions: [{name: f, mode: daemon, source: {queue: q}}]\n'
  const text = 'product: {name: s}\nqueues: [{name: q}]\n'
  expect(told(text, 'LINT_QUEUE_UNREAD')).toEqual([['warning', 2, 10]])
  expect(told(text + reader, 'LINT_QUEUE_UNREAD')).toEqual([])
  expect(told(text + reader, 'LINT_NOT_USED')).toEqual([])
})
