/**
 * More pairs of values for manifest keys: whole handlers and whole sections.
 *
 * Owns those rows; key-pairs.ts defines a pair.
 */
import { type KeyPair, pairs } from './key-pairs.ts'

/** Whole handlers that replace `h`. */
export const WHOLE_PAIRS: readonly KeyPair[] = [
  ...pairs(
    'functions',
    [
      'retry.max_attempts',
      '{name: bad, trigger: go, retry: {max_attempts: 1}}',
      '{name: bad, trigger: go, retry: {max_attempts: 3, base_ms: 0}}',
    ],
    [
      'retry.base_ms',
      '{name: bad, trigger: go, retry: {max_attempts: 2, base_ms: 0}}',
      '{name: bad, trigger: go, retry: {max_attempts: 2, base_ms: 60000}}',
    ],
    ['deadline.finish', '{name: slow, trigger: go}', '{name: slow, trigger: go, deadline: {finish: 1m}}'],
    ['overlap', '{name: slow, trigger: go}', '{name: slow, trigger: go, overlap: skip}'],
    [
      'overlap_key',
      '{name: slow, trigger: go, overlap: skip}',
      '{name: slow, trigger: go, overlap: skip, overlap_key: payload.n}',
    ],
    [
      'cancel_on.match',
      '{name: slow, trigger: go, cancel_on: [{event: stop}]}',
      '{name: slow, trigger: go, cancel_on: [{event: stop, match: payload.id}]}',
    ],
    [
      'cancel_on.if',
      '{name: slow, trigger: go, cancel_on: [{event: stop}]}',
      '{name: slow, trigger: go, cancel_on: [{event: stop, if: "payload.id == \'7\'"}]}',
    ],
    ['handler', '{name: h, trigger: go}', '{name: none, trigger: go}'],
    ['cancel_on.event', '{name: slow, trigger: go}', '{name: slow, trigger: go, cancel_on: [{event: stop}]}'],
    [
      'routing.route_on',
      '{name: r, trigger: go, routing: {route_on: payload.n, routes: {"1": {emit: out}, "5": {emit: other}}, default_route: {emit: out}}}',
      '{name: r, trigger: go, routing: {route_on: payload.id, routes: {"1": {emit: out}, "5": {emit: other}}, default_route: {emit: out}}}',
    ],
    [
      'routing.routes.*.emit',
      '{name: r, trigger: go, routing: {route_on: payload.n, routes: {"1": {emit: out}}, default_route: {emit: out}}}',
      '{name: r, trigger: go, routing: {route_on: payload.n, routes: {"1": {emit: other}}, default_route: {emit: out}}}',
    ],
    [
      'routing.routes.*.then',
      '{name: r, trigger: go, routing: {route_on: payload.n, routes: {"1": {emit: out}}, default_route: {emit: out}}}',
      '{name: r, trigger: go, routing: {route_on: payload.n, routes: {"1": {emit: out, then: [echo]}}, default_route: {emit: out}}}',
    ],
    [
      'routing.default_route.emit',
      '{name: r, trigger: go, routing: {route_on: payload.n, routes: {"1": {emit: out}}, default_route: {emit: out}}}',
      '{name: r, trigger: go, routing: {route_on: payload.n, routes: {"1": {emit: out}}, default_route: {emit: other}}}',
    ],
    [
      'routing.default_route.then',
      '{name: r, trigger: go, routing: {route_on: payload.n, routes: {"1": {emit: out}}, default_route: {emit: out}}}',
      '{name: r, trigger: go, routing: {route_on: payload.n, routes: {"1": {emit: out}}, default_route: {emit: out, then: [echo]}}}',
    ],
  ),
  ...pairs(
    'humans',
    ['name', '{name: ask, trigger: go}', '{name: other, trigger: go}'],
    ['title', '{name: ask, trigger: go, title: A}', '{name: ask, trigger: go, title: B}'],
    ['task_type', '{name: ask, trigger: go}', '{name: ask, trigger: go, task_type: review}'],
    ['assign', '{name: ask, trigger: go, assign: group:editors}', '{name: ask, trigger: go, assign: group:leads}'],
    [
      'actions.name actions.terminal',
      '{name: ask, trigger: go, actions: [approve]}',
      '{name: ask, trigger: go, actions: [reject]}',
    ],
    [
      'actions.emits_event',
      '{name: ask, trigger: go, actions: [approve]}',
      '{name: ask, trigger: go, actions: [{name: approve, emits_event: said}]}',
    ],
    [
      'actions.event_payload',
      '{name: ask, trigger: go, actions: [{name: approve, emits_event: said, event_payload: {a: 1}}]}',
      '{name: ask, trigger: go, actions: [{name: approve, emits_event: said, event_payload: {a: 2}}]}',
    ],
    [
      'actions.requires_reason',
      '{name: ask, trigger: go, actions: [{name: approve}]}',
      '{name: ask, trigger: go, actions: [{name: approve, requires_reason: true}]}',
    ],
    [
      'actions.required_fields',
      '{name: ask, trigger: go, actions: [{name: approve}]}',
      '{name: ask, trigger: go, actions: [{name: approve, required_fields: [note]}]}',
    ],
    [
      'actions.next_state',
      '{name: ask, trigger: go, actions: [reject, {name: hold, next_state: approved}]}',
      '{name: ask, trigger: go, actions: [reject, {name: hold, next_state: completed}]}',
    ],
    ['required_fields', '{name: ask, trigger: go}', '{name: ask, trigger: go, required_fields: [note]}'],
    ['deadline', '{name: ask, trigger: go, deadline: 5s}', '{name: ask, trigger: go, deadline: 5h}'],
    [
      'auto_action_on_timeout',
      '{name: ask, trigger: go, deadline: 5s}',
      '{name: ask, trigger: go, deadline: 5s, auto_action_on_timeout: reject}',
    ],
    [
      'escalation.to',
      '{name: ask, trigger: go, deadline: 5s, escalation: [{to: group:leads}]}',
      '{name: ask, trigger: go, deadline: 5s, escalation: [{to: user:cfo}]}',
    ],
    ['quorum.approve', '{name: ask, trigger: go}', '{name: ask, trigger: go, quorum: {approve: 2}}'],
    ['priority', '{name: ask, trigger: go}', '{name: ask, trigger: go, priority: 5}'],
    ['separation', '{name: ask, trigger: go}', '{name: ask, trigger: go, separation: requester}'],
    ['enabled', '{name: ask, trigger: go}', '{name: ask, trigger: go, enabled: false}'],
    [
      'output_schema',
      '{name: ask, trigger: go}',
      '{name: ask, trigger: go, bundle: {sections: [{id: a, type: review_items, items: [{id: x}, {id: y}]}]}}',
    ],
  ),
  ...pairs(
    'agents',
    [
      'name instructions',
      '{name: a, trigger: go, instructions: Do.}',
      '{name: a, trigger: go, instructions: Do it well.}',
    ],
    [
      'enabled',
      '{name: a, trigger: go, instructions: Do.}',
      '{name: a, trigger: go, instructions: Do., enabled: false}',
    ],
    [
      'config.model',
      '{name: a, trigger: go, instructions: Do., config: {model: haiku}}',
      '{name: a, trigger: go, instructions: Do., config: {model: opus}}',
    ],
    [
      'config.temperature',
      '{name: a, trigger: go, instructions: Do.}',
      '{name: a, trigger: go, instructions: Do., config: {temperature: 0.7}}',
    ],
    [
      'config.allowed_tools',
      '{name: a, trigger: go, instructions: Do.}',
      '{name: a, trigger: go, instructions: Do., config: {allowed_tools: [Read]}}',
    ],
    [
      'config.confidence_scale escalation_rules.condition',
      '{name: a, trigger: go, instructions: Do., escalation_rules: [{condition: agent.confidence < 0.2}]}',
      '{name: a, trigger: go, instructions: Do., escalation_rules: [{condition: agent.confidence < 0.9}]}',
    ],
    [
      'config.asks.groups',
      '{name: a, trigger: go, instructions: Do., escalation_rules: [{condition: agent.confidence < 0.9}]}',
      '{name: a, trigger: go, instructions: Do., config: {asks: {groups: [leads]}}, escalation_rules: [{condition: agent.confidence < 0.9}]}',
    ],
    [
      'escalation_rules.escalate_to',
      '{name: a, trigger: go, instructions: Do., escalation_rules: [{condition: agent.confidence < 0.9}]}',
      '{name: a, trigger: go, instructions: Do., escalation_rules: [{condition: agent.confidence < 0.9, escalate_to: group:leads}]}',
    ],
    [
      'escalation_rules.reason',
      '{name: a, trigger: go, instructions: Do., escalation_rules: [{condition: agent.confidence < 0.9, reason: A}]}',
      '{name: a, trigger: go, instructions: Do., escalation_rules: [{condition: agent.confidence < 0.9, reason: B}]}',
    ],
    [
      'contract.output_schema',
      '{name: a, trigger: go, instructions: Do.}',
      '{name: a, trigger: go, instructions: Do., contract: {output_schema: {type: object, required: [more]}}}',
    ],
    [
      'contract.state_in contract.state_out',
      '{name: a, trigger: go, instructions: Do., contract: {state_in: new, state_out: old}}',
      '{name: a, trigger: go, instructions: Do., contract: {state_in: old, state_out: old}}',
    ],
    [
      'limits.max_output_tokens',
      '{name: a, trigger: go, instructions: Do.}',
      '{name: a, trigger: go, instructions: Do., limits: {max_output_tokens: 77}}',
    ],
    [
      'limits.max_tokens',
      '{name: a, trigger: go, instructions: Do.}',
      '{name: a, trigger: go, instructions: Do., limits: {max_tokens: 10}}',
    ],
    [
      'limits.max_cost_usd',
      '{name: a, trigger: go, instructions: Do.}',
      '{name: a, trigger: go, instructions: Do., limits: {max_cost_usd: 0.000001}}',
    ],
    [
      'emits.event',
      '{name: a, trigger: go, instructions: Do., emits: [{event: out, data: {a: 1}}]}',
      '{name: a, trigger: go, instructions: Do., emits: [{event: other, data: {a: 1}}]}',
    ],
    [
      'rate_limit.limit',
      '{name: a, trigger: go, instructions: Do., rate_limit: {limit: 1, period: 1h}}',
      '{name: a, trigger: go, instructions: Do., rate_limit: {limit: 2, period: 1h}}',
    ],
    [
      'triggers.filter',
      '{name: a, trigger: {event: go, filter: payload.n > 3}, instructions: Do.}',
      '{name: a, trigger: {event: go, filter: payload.n > 9}, instructions: Do.}',
    ],
  ),
]

/** Whole sections, beside functions that are always present. */
export const SECTION_PAIRS = pairs(
  '',
  [
    'events.definitions.payload',
    'events: [{name: go, payload: {id: string}}, stop]',
    'events: [{name: go, payload: {id: string, more: boolean!}}, stop]',
  ],
  ['events.definitions.name', 'events: [go, stop]', 'events: [go]'],
  [
    'events.definitions.additional',
    'events: [{name: go, payload: {id: string, n: number}}, stop]',
    'events: [{name: go, additional: false, payload: {id: string, n: number}}, stop]',
  ],
  ['events.definitions.source', 'events: [go, stop]', 'events: [{name: go, source: human}, stop]'],
  ['events.open', 'events: {definitions: [go, stop]}', 'events: {open: true, definitions: [go, stop]}'],
  [
    'schedules.every',
    'schedules: [{name: s, every: 1h, function: h}]',
    'schedules: [{name: s, every: 2h, function: h}]',
  ],
  [
    'schedules.cron schedules.tz',
    "schedules: [{name: s, cron: '0 3 * * *', tz: UTC, function: h}]",
    "schedules: [{name: s, cron: '0 5 * * *', tz: UTC, function: h}]",
  ],
  ['schedules.in', 'schedules: [{name: s, in: 5m, function: h}]', 'schedules: [{name: s, in: 9m, function: h}]'],
  [
    'schedules.at',
    "schedules: [{name: s, at: '2026-01-01T01:00:00Z', function: h}]",
    "schedules: [{name: s, at: '2026-01-01T01:30:00Z', function: h}]",
  ],
  [
    'schedules.phase',
    'schedules: [{name: s, every: 1h, function: h}]',
    'schedules: [{name: s, every: 1h, phase: 5m, function: h}]',
  ],
  [
    'schedules.jitter',
    'schedules: [{name: s, every: 1h, function: h}]',
    'schedules: [{name: s, every: 1h, jitter: 30m, function: h}]',
  ],
  [
    'schedules.start',
    'schedules: [{name: s, every: 1h, function: h}]',
    "schedules: [{name: s, every: 1h, start: '2026-01-02T00:00:00Z', function: h}]",
  ],
  [
    'schedules.end',
    'schedules: [{name: s, every: 1h, function: h}]',
    "schedules: [{name: s, every: 1h, end: '2026-01-02T00:00:00Z', function: h}]",
  ],
  [
    'schedules.exclude',
    'schedules: [{name: s, every: 1h, function: h}]',
    "schedules: [{name: s, every: 1h, exclude: ['2026-01-02'], function: h}]",
  ],
  [
    'schedules.max_runs',
    'schedules: [{name: s, every: 1h, function: h}]',
    'schedules: [{name: s, every: 1h, max_runs: 2, function: h}]',
  ],
  [
    'schedules.function',
    'schedules: [{name: s, every: 1h, function: h}]',
    'schedules: [{name: s, every: 1h, function: echo}]',
  ],
  ['schedules.emit', 'schedules: [{name: s, every: 1h, emit: go}]', 'schedules: [{name: s, every: 1h, emit: stop}]'],
  [
    'schedules.input',
    'schedules: [{name: s, every: 1h, function: h, input: {a: 1}}]',
    'schedules: [{name: s, every: 1h, function: h, input: {a: 2}}]',
  ],
  [
    'schedules.overlap',
    'schedules: [{name: s, every: 1h, function: slow}]',
    'schedules: [{name: s, every: 1h, function: slow, overlap: allow}]',
  ],
  [
    'schedules.pause_on_failures',
    'schedules: [{name: s, every: 1h, function: bad}]',
    'schedules: [{name: s, every: 1h, function: bad, pause_on_failures: 2}]',
  ],
  [
    'schedules.adaptive.min schedules.adaptive.max schedules.adaptive.yield',
    'schedules: [{name: s, every: 1h, function: h}]',
    'schedules: [{name: s, every: 1h, function: h, adaptive: {min: 30m, max: 4h, yield: output.ok}}]',
  ],
  [
    'limits.max_hops',
    'functions: [{name: h, trigger: go, allow_reentry: 50, emits: [{event: go, data: {id: a, n: 1}}]}]',
    'limits: {max_hops: 3}\nfunctions: [{name: h, trigger: go, allow_reentry: 50, emits: [{event: go, data: {id: a, n: 1}}]}]',
  ],
  [
    'limits.shared.*.limit limits.shared.*.period',
    'limits: {shared: {few: {limit: 1, period: 1m}}}\nfunctions: [{name: h, trigger: go, throttle: {shared: few}}]',
    'limits: {shared: {few: {limit: 9, period: 1m}}}\nfunctions: [{name: h, trigger: go, throttle: {shared: few}}]',
  ],
  [
    'limits.shared.*.burst',
    'limits: {shared: {few: {limit: 1, period: 1m}}}\nfunctions: [{name: h, trigger: go, throttle: {shared: few}}]',
    'limits: {shared: {few: {limit: 1, period: 1m, burst: 3}}}\nfunctions: [{name: h, trigger: go, throttle: {shared: few}}]',
  ],
  [
    'defaults.retry.max_attempts',
    'defaults: {retry: {max_attempts: 1}}\nfunctions: [{name: bad, trigger: go}]',
    'defaults: {retry: {max_attempts: 3, base_ms: 0}}\nfunctions: [{name: bad, trigger: go}]',
  ],
  [
    'defaults.model',
    'defaults: {model: haiku}\nagents: [{name: a, trigger: go, instructions: Do.}]',
    'defaults: {model: opus}\nagents: [{name: a, trigger: go, instructions: Do.}]',
  ],
  [
    'defaults.tz',
    "defaults: {tz: UTC}\nschedules: [{name: s, cron: '0 3 * * *', function: h}]",
    "defaults: {tz: Asia/Tokyo}\nschedules: [{name: s, cron: '0 3 * * *', function: h}]",
  ],
  [
    'product.tz',
    "product: {name: p, tz: UTC}\nschedules: [{name: s, cron: '0 3 * * *', function: h}]",
    "product: {name: p, tz: Asia/Tokyo}\nschedules: [{name: s, cron: '0 3 * * *', function: h}]",
  ],
  [
    'state_machines.initial',
    'state_machine: {entity: order, key: id, initial: new, enforce: strict, states: [{name: new, transitions_to: [mid]}, {name: mid, transitions_to: [old, new]}, {name: old, terminal: true}]}\nfunctions: [{name: h, trigger: go, state_in: new, state_out: mid}]',
    'state_machine: {entity: order, key: id, initial: mid, enforce: strict, states: [{name: new, transitions_to: [mid]}, {name: mid, transitions_to: [old, new]}, {name: old, terminal: true}]}\nfunctions: [{name: h, trigger: go, state_in: new, state_out: mid}]',
  ],
  [
    'state_machines.enforce',
    'state_machine: {entity: order, key: id, initial: mid, enforce: strict, states: [{name: new, transitions_to: [mid]}, {name: mid, transitions_to: [old, new]}, {name: old, terminal: true}]}\nfunctions: [{name: h, trigger: go, state_in: new, state_out: mid}]',
    'state_machine: {entity: order, key: id, initial: mid, enforce: warn, states: [{name: new, transitions_to: [mid]}, {name: mid, transitions_to: [old, new]}, {name: old, terminal: true}]}\nfunctions: [{name: h, trigger: go, state_in: new, state_out: mid}]',
  ],
  [
    'state_machines.key',
    'state_machine: {entity: order, key: id, initial: new, enforce: strict, states: [{name: new, transitions_to: [old]}, {name: old, terminal: true}]}\nfunctions: [{name: h, trigger: go, state_in: new, state_out: old}]',
    'state_machine: {entity: order, key: n, initial: new, enforce: strict, states: [{name: new, transitions_to: [old]}, {name: old, terminal: true}]}\nfunctions: [{name: h, trigger: go, state_in: new, state_out: old}]',
  ],
)
