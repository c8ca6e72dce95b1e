/**
 * Agents, functions, humans and plans in their long form: the keys of each, and the shape of their values.
 *
 * Owns the keys of each modality besides those that all have (handler-sections.ts).
 */
import { HANDLER, lookups, retry } from './handler-sections.ts'
import {
  any,
  duration,
  either,
  event,
  type Fields,
  file,
  flag,
  list,
  map,
  name,
  number,
  oneOrMore,
  type RecordShape,
  record,
  rule,
  text,
  textOf,
  whole,
  word,
} from './shape.ts'

const RUN_DEADLINE = record({ start: duration, finish: duration })
const escalationRules = list(
  record({ 'condition!': rule, escalate_to: text, reason: text, assign: any, deadline: duration }),
)

export const agent = record({
  ...HANDLER,
  deadline: RUN_DEADLINE,
  prompt: file,
  instructions: text,
  contract: record({
    state_in: oneOrMore(text),
    state_out: text,
    context_in: record({
      from_db: list(
        record({
          'table!': text,
          'as!': text,
          template: file,
          must_have: list(text),
          where: text,
          order_by: text,
          limit: whole,
          untrusted: flag,
        }),
      ),
      static: list(record({ source: text, text, 'dest!': text, untrusted: flag })),
    }),
    context_out: record({
      artifacts: list(
        record({ 'file!': text, required: flag, persist_to: word('blob', 'database', 'none'), format: text }),
      ),
    }),
    output_schema: any,
  }),
  config: record({
    model: text,
    allowed_tools: list(text),
    permission_mode: word('default', 'acceptEdits', 'bypassPermissions'),
    subagents: list(
      record({ 'name!': name, description: text, model: text, tools: list(text), prompt: text, instructions: text }),
    ),
    handoffs: list(name),
    mcp_servers: list(
      record({
        'name!': text,
        url: text,
        command: text,
        args: list(text),
        env: map(text),
        tools: any,
        trusted: flag,
      }),
    ),
    fallback_models: list(text),
    allowed_models: list(text),
    temperature: number,
    backend: name,
    taint: word('ask', 'allow'),
    confidence_scale: number,
    asks: record({ users: list(text), groups: list(text) }),
  }),
  limits: record({
    max_tokens: whole,
    max_output_tokens: whole,
    max_tool_calls: whole,
    timeout_seconds: number,
    max_turns: whole,
    max_cost_usd: number,
    max_depth: whole,
  }),
  workspace: record({ base: text, cleanup: word('on_success', 'on_complete', 'never'), snapshot_on_failure: flag }),
  escalation_rules: escalationRules,
})

const PATTERNS = ['simple', 'fan-in', 'cron', 'routing', 'webhook'] as const

/** By pairs, because an object with a member `then` looks like a promise. */
const route = record(Object.fromEntries([['emit', event] as const, ['then', oneOrMore(name)] as const]))

const routing = record({ 'route_on!': rule, 'routes!': map(route), default_route: route })

export const fn = record({
  ...HANDLER,
  deadline: RUN_DEADLINE,
  pattern: word(...PATTERNS),
  handler: text,
  actions: list(any),
  steps: list(
    record({
      'name!': text,
      action: text,
      /** Prose, like the description of the step. */
      on_failure: text,
      retry,
      timeout: duration,
    }),
  ),
  schema: any,
  integrations: list(text),
  allowed_operations: list(word('transform', 'api_call', 'db_write', 'emit_event', 'schedule')),
  fan_in: record({
    'primary!': event,
    'wait_for!': list(event),
    'correlation_key!': rule,
    timeout: duration,
    collect: word('first', 'last', 'all'),
  }),
  routing,
  pipeline: list(name),
})

const action = either(
  text,
  record({
    'name!': text,
    label: text,
    requires_reason: flag,
    terminal: flag,
    next_state: text,
    emits_event: event,
    event_payload: any,
    event_payload_schema: any,
    marks_approved: any,
    returns_to: text,
    required_fields: list(text),
  }),
)

const DUE = textOf('a duration like 48h, or an instant like 2026-03-01T09:00:00Z')

const HUMAN: Fields = {
  task_type: word('approval', 'input', 'review', 'decision'),
  title: text,
  instructions: text,
  assign: either(
    oneOrMore(text),
    record({
      user: text,
      users: list(text),
      group: text,
      groups: list(text),
      rule,
      fallback: text,
    }),
  ),
  bundle: record({
    sections: list(
      record({
        'id!': text,
        type: word('summary', 'review_items', 'preview', 'editable'),
        title: text,
        content: any,
        items: any,
        editable: flag,
        schema: any,
      }),
    ),
  }),
  actions: list(action),
  required_fields: list(text),
  fields: any,
  deadline: DUE,
  reminders: either(list(duration), record({ every: duration, start_after: duration, max: whole })),
  escalation: list(record({ 'to!': oneOrMore(text), deadline: DUE })),
  quorum: record({ approve: whole, reject: whole }),
  separation: oneOrMore(text),
  auto_action_on_timeout: text,
  priority: number,
}

export const human = record({ ...HANDLER, ...HUMAN })

const STEP_MODALITIES = ['agent', 'human', 'workflow'] as const

const step: RecordShape = record({
  'id!': text,
  name: text,
  type: text,
  assigned_to: text,
  default_modality: word(...STEP_MODALITIES),
  requires: list(text),
  when: rule,
  each: rule,
  as: text,
  trigger: text,
  inputs: map(any),
  db_lookups: lookups,
  agent_config: record({ agent_id: text, output_schema: any, context: any, prompt: text, model: text }),
  human_config: record({
    ...HUMAN,
    allowed_actions: list(action),
    context: any,
    approval_bundle_id: text,
  }),
  workflow_config: record({ function_name: text, inputs: map(any) }),
  approval_config: map(any),
  review_config: record({ checklist: list(any) }),
  wait_config: record({
    duration,
    until_event: event,
    timeout: duration,
    timeout_action: word('continue', 'fail', 'escalate'),
  }),
  output_schema: any,
  escalation_rules: escalationRules,
  effect: word('idempotent', 'once', 'transactional'),
  retry,
  timeout: duration,
  on_failure: word('fail', 'skip', 'human', 'replan'),
  on_reject: word('skip', 'continue'),
  gate: word('none'),
  on_parent_end: word('cancel', 'detach'),
  on_partial: word('accept', 'continue', 'fail'),
})

export const plan = record({
  ...HANDLER,
  deadline: RUN_DEADLINE,
  goal: text,
  inputs: any,
  text,
  steps: list(step),
  budget: any,
  approve: word('human', 'auto'),
})
