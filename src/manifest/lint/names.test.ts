/** Names and fields that do not exist, and the report for each kind of mistake: the key, the place, what was expected. */
import { describe, expect, test } from 'vitest'
import { check } from '#manifest/yaml/check/check.ts'
import { MANIFEST } from '#manifest/yaml/check/sections.ts'
import type { Shape } from '#manifest/yaml/check/shape.ts'
import { loadManifest } from '#manifest/yaml/load.ts'
import type { Json } from '#model/kernel/json.ts'

const told = (lines: string): readonly string[] =>
  loadManifest(`product: {name: shop}
events:
  - {name: order.placed, source: external, payload: {id: string!, total: number, lines: array, at: {type: object, properties: {city: string}}}}
  - {name: order.moved, source: external, payload: {id: string!, city: string}}
  - {name: order.held, payload: {id: string!}}
${lines}`).findings.map(({ level, code, line, column, message }) => `${level} ${code} ${line}:${column} ${message}`)

const FN = 'functions:\n  - {name: pack, trigger: order.placed'
const AGENT = 'agents:\n  - {name: judge, instructions: x, trigger: order.placed'
const SCHEMA = 'contract: {output_schema: {type: object, properties: {ok: {type: boolean}}}}'
const HUMAN = 'humans:\n  - {name: ask, trigger: order.placed'
const PLAN =
  'functions: [{name: pack}]\nplans:\n  - {name: ship, trigger: order.placed, steps: [{id: a, assigned_to: pack}, {id: b, assigned_to: pack'

const FIELD = 'warning LINT_FIELD_UNKNOWN'
const NAME = 'warning LINT_NAME_UNKNOWN'

describe('[A3] lint finds', () => {
  test.each([
    [
      `${AGENT}, config: {allowed_tools: [Raed]}}`,
      'LINT_TOOL_UNKNOWN',
      'Raed is not a tool of Trihand; did you mean Read?',
    ],
    [
      `${AGENT}, config: {allowed_tools: [mcp__mial__send], mcp_servers: [{name: mail, url: 'https://a.example'}]}}`,
      'LINT_TOOL_UNKNOWN',
      'judge has no server mial; did you mean mail?',
    ],
    [`${AGENT}, config: {handoffs: [nobody]}}`, NAME, 'no handler is named nobody; handlers: judge'],
    [
      `${AGENT}, escalation_rules: [{condition: 'agent.confidence < 1', escalate_to: jugde}]}`,
      NAME,
      'did you mean judge?',
    ],
    [
      `${AGENT}, ${SCHEMA}, emits: [{event: order.held, when: output.okk}]}`,
      FIELD,
      'output.okk: the output schema has no okk; did you mean ok?',
    ],
    [
      `${AGENT}, emits: [{event: order.held, data: {id: '{{ payload.idd }}'}}]}`,
      FIELD,
      'order.placed declares no idd; did you mean id?',
    ],
    [`${FN}, concurrency: [{limit: 1, key: payload.owner}]}`, FIELD, 'it has id, total, lines, at'],
    [
      `${FN}, idempotency: {key: payload.at.town}}`,
      FIELD,
      'payload.at.town: order.placed declares no town; it has city',
    ],
    [`${FN}, filter: 1, idempotency: {key: {expr: event.data.nr}}}`, FIELD, 'event.data.nr'],
    [
      'functions:\n  - {name: f, trigger: {event: order.placed, route_on: payload.kind, routes: {a: {then: [pakc]}}}}\n  - {name: pack}',
      NAME,
      'no handler is named pakc; did you mean pack?',
    ],
    [
      'functions:\n  - {name: f, waits: [order.plced]}',
      'LINT_EVENT_UNDECLARED',
      'order.plced is not declared: it may carry any data; did you mean order.placed?',
    ],
    [`${HUMAN}, title: 'Hold {{ payload.nr }}'}`, FIELD, 'payload.nr'],
    [
      `${HUMAN}, assign: {group: editors, usr: ana}}`,
      'MANIFEST_UNKNOWN_KEY',
      'usr is unknown here; did you mean user?',
    ],
    [
      `${HUMAN}, actions: [{name: hold, emits_event: order.held, event_payload: {id: '{{ payload.id }}'}}]}`,
      FIELD,
      'here payload is the decision',
    ],
    [
      `${HUMAN}, actions: [{name: hold, emits_event: order.held}]}`,
      'LINT_SCHEMA_MISMATCH',
      'order.held requires id, and a decision does not have it',
    ],
    [
      `${PLAN}, inputs: {x: '{{ bar }}'}}]}`,
      NAME,
      'bar is unknown here; expected one of a, item, b, id, total, lines, at, event',
    ],
    [`${PLAN}, when: payload.totl > 1}]}`, FIELD, 'did you mean total?'],
    [`${PLAN}, trigger: 'event:order.plced'}]}`, 'LINT_EVENT_UNDECLARED', 'did you mean order.placed?'],
    [
      `${PLAN}}, {id: c, type: wait, wait_config: {until_event: order.plced}}]}`,
      'LINT_EVENT_UNPRODUCED',
      'nothing sends it',
    ],
    [
      `${FN}, filter: 1, concurrency: [{limit: 1, key: totl}]}`,
      'error EXPR_REJECTED',
      'totl is unknown here; expected one of event, payload, trigger, run',
    ],
    [
      `${FN}, concurrency: [{limit: 1, key: "{a: 1}"}]}`,
      'error EXPR_REJECTED',
      'an expression cannot contain a map in braces',
    ],
    [`${FN}, concurrency: [{limit: 1, key: "payload.id = 3"}]}`, 'error EXPR_REJECTED', 'write == to compare'],
  ])('%s (15.1.4)', (lines, code, message) => {
    const found = told(lines).filter((one) => one.includes(code) && one.includes(message))
    expect([found.length, told(lines)]).toEqual([1, expect.anything()])
    expect(found[0]).toMatch(/^\w+ \w+ [6-9]:\d+ /)
  })

  test('nothing is found where a field may exist: a guard, another trigger, a batched or unknown payload, quoted text (15.1.4)', () => {
    const lines = `functions:
  - {name: a, trigger: {event: order.placed, filter: "has(payload.nr) && payload.nr > 1"}}
  - {name: b, triggers: [order.placed, order.moved], concurrency: [{limit: 1, key: payload.city}]}
  - {name: c, trigger: order.placed, batch: {max_size: 2}, priority: payload.nr}
  - {name: d, trigger: order.free, priority: payload.nr}
  - {name: e, trigger: {event: order.placed, filter: "payload.id == 'payload.nr'"}}
  - {name: f, trigger: order.placed, cancel_on: [{event: order.moved, if: payload.city == 'x'}]}
agents: [{name: g, instructions: x, config: {allowed_tools: [Read, 'Bash', mcp__mail__send], mcp_servers: [{name: mail, url: 'https://a.example'}]}}]
`
    expect(told(lines).filter((one) => /FIELD_UNKNOWN|NAME_UNKNOWN|TOOL_UNKNOWN|^error/.test(one))).toEqual([])
  })
})

/** Values that are wrong for almost every shape. */
const WRONG: readonly Json[] = [true, 1.5, 'no such word', '', ['48h', 3], [['a']], { a: { b: 1 } }, -7, 'x y']

const leaves = (shape: Shape, path: readonly string[], seen: (shape: Shape, path: readonly string[]) => void): void => {
  seen(shape, path)
  if (shape.is === 'record') for (const [key, one] of Object.entries(shape.fields)) leaves(one, [...path, key], seen)
  else if (shape.is === 'list') leaves(shape.of, path, seen)
  else if (shape.is === 'map') leaves(shape.of, [...path, 'any'], seen)
  else if (shape.is === 'either') for (const one of shape.of) leaves(one, path, seen)
}

test('each wrong value of each key is reported with its key and what was expected (15.1.4)', () => {
  const bad: string[] = []
  let keys = 0
  let count = 0
  leaves(MANIFEST, [], (shape, path) => {
    const key = path.at(-1)
    if (key === undefined || shape.is === 'any') return
    keys += 1
    for (const value of WRONG) {
      const { remarks } = check({ is: 'record', fields: { [key]: shape }, required: [] }, { [key]: value })
      for (const { level, message, path: at, hint } of remarks) {
        if (level !== 'error') continue
        count += 1
        const named = at.findLast((part) => typeof part === 'string')
        const isGood =
          message.includes(String(named)) &&
          !/Exceeded|something else|undefined|\[object/.test(`${message} ${hint ?? ''}`)
        if (!isGood) bad.push(`${path.join('.')}: ${message}`)
      }
    }
  })
  expect([...new Set(bad)]).toEqual([])
  expect(keys).toBeGreaterThan(1_000)
  expect(count).toBeGreaterThan(3_000)
})

test.each([
  [
    `${HUMAN}, deadline: [48h]}`,
    'deadline: ["48h"] is not a duration like 48h, or an instant',
    'Write it without the brackets: "48h".',
  ],
  [`${HUMAN}, reminders: [48h, 3]}`, 'reminders[1]: 3 is not a duration', 'Add a unit, like 3s.'],
  [`${FN}, enabled: "yes"}`, 'enabled: "yes" is not true or false', 'Write true or false, without quotes.'],
  [`${FN}, allow_reentry: "3"}`, 'allow_reentry: "3" is not a whole number', 'Write the number without quotes: 3.'],
  [`${FN}, cancel_on: x}`, 'cancel_on: "x" is not a list', null],
  [
    `${FN}, state_out: {a: 1}}`,
    'state_out: {"a":1} is not a text',
    'A value that begins with { is a map in YAML: put it in quotes.',
  ],
])('%s is reported with a hint (15.1.4)', (lines, message, hint) => {
  const { findings } = loadManifest(
    `product: {name: shop}\nevents: [{name: order.placed, source: external}]\n${lines}\n`,
  )
  const found = findings.find((one) => one.message.includes(message))
  expect(findings.map((one) => one.message)).toContainEqual(expect.stringContaining(message))
  if (hint !== null) expect(found?.hint).toBe(hint)
})
