/**
 * The keys that all handlers have in the long form: triggers, emits, flow control, placement, what is read before and written after.
 *
 * Owns that part of the table of sections.
 */
import { FILE_CHANGES, TABLE_CHANGES } from '#model/event/watch.ts'
import {
  CONCURRENCY_SCOPES,
  CONFLICTS,
  MODES,
  ON_LIMITS,
  OVERLAPS,
  PAUSES,
  RELEASES,
  UNITS,
} from '#model/flow/policies/flow-source.ts'
import {
  any,
  duration,
  either,
  event,
  type Fields,
  flag,
  list,
  map,
  name,
  number,
  oneOrMore,
  record,
  rule,
  text,
  whole,
  word,
} from './shape.ts'

export const retry = record({ max_attempts: whole, base_ms: number, factor: number, max_ms: number })
const PERIOD = { 'limit!': whole, 'period!': duration, key: rule }

/** On a handler; some of them also on a trigger, where they take precedence. */
const GATE: Fields = {
  idempotency: record({
    'key!': rule,
    scope: word('handler', 'session', 'global'),
    release: word(...RELEASES),
    ttl: duration,
    on_conflict: word(...CONFLICTS),
  }),
  rate_limit: record(PERIOD),
  debounce: record({ 'period!': duration, key: rule, mode: word(...MODES), max_wait: either(word('none'), duration) }),
  batch: record({
    max_size: whole,
    max_wait: duration,
    max_bytes: either(number, text),
    key: rule,
    if: rule,
    outputs: word('each', 'shared'),
  }),
}

const FLOW: Fields = {
  ...GATE,
  while_paused: word(...PAUSES),
  overlap: word(...OVERLAPS),
  overlap_key: rule,
  throttle: record({
    limit: whole,
    period: duration,
    burst: whole,
    key: rule,
    shared: text,
    cost: either(number, rule),
  }),
  concurrency: either(
    whole,
    list(
      record({
        'limit!': whole,
        scope: word(...CONCURRENCY_SCOPES),
        key: rule,
        total: whole,
        unit: word(...UNITS),
        weight: number,
        on_limit: word(...ON_LIMITS),
      }),
    ),
  ),
  priority: either(number, rule),
  fairness: record({ 'key!': rule, weight: whole }),
  cancel_on: list(
    record({ 'event!': event, match: text, if: rule, timeout: duration, mode: word('between_steps', 'abort') }),
  ),
  allow_reentry: whole,
}

export const TRIGGER_KINDS = ['event', 'webhook', 'manual', 'after', 'table', 'file', 'signal', 'condition'] as const

export const triggerShape = record({
  'kind!': word(...TRIGGER_KINDS),
  event,
  filter: rule,
  webhook: name,
  after: name,
  status: oneOrMore(text),
  table: text,
  database: text,
  file: oneOrMore(text),
  signal: text,
  condition: rule,
  on: oneOrMore(word(...FILE_CHANGES, ...TABLE_CHANGES)),
  settle: duration,
  every: duration,
  for: duration,
  edge: word('rising', 'falling', 'level', 'change'),
  rearm: text,
  reads: map(record({ 'table!': text, 'key!': text })),
  session: text,
  ...GATE,
})

const EMIT_ON = ['success', 'failure', 'partial', 'timeout', 'cancelled', 'always'] as const

const emit = record({
  'event!': event,
  on: word(...EMIT_ON),
  when: rule,
  delay: duration,
  data: any,
  subject: text,
})

export const lookups = list(record({ 'table!': text, query: text, where: text, key: text, 'as!': text, limit: whole }))

/** The keys that every handler has. */
export const HANDLER: Fields = {
  'name!': name,
  enabled: flag,
  internal: flag,
  triggers: list(triggerShape),
  emits: list(emit),
  waits: list(event),
  session: any,
  mode: any,
  source: any,
  circuit: record({
    key: text,
    window: whole,
    min_calls: whole,
    failure_rate: number,
    open_for: duration,
    half_open: whole,
    codes: list(text),
    when_open: word('wait', 'fail', 'fallback'),
  }),
  placement: record({
    require: map(oneOrMore(text)),
    prefer: list(record({ 'label!': text, weight: number })),
    sticky: flag,
  }),
  pool: text,
  pin: word('soft', 'hard', 'none'),
  pin_for: duration,
  module: name,
  retry,
  timeout: duration,
  effect: word('idempotent', 'once', 'transactional'),
  entity: text,
  entity_key: rule,
  state_in: oneOrMore(text),
  state_out: text,
  validate_input: record({
    payload: list(text),
    exists: text,
    state: text,
    files: list(text),
    on_invalid: word('fail', 'skip'),
  }),
  validate_output: record({ schema: any, require_artifacts: flag }),
  persist: list(
    record({
      update: text,
      set: map(any),
      where: text,
      insert: text,
      values: map(any),
      log: text,
      data: any,
      custom_function: text,
    }),
  ),
  db_lookups: lookups,
  input: any,
  output: any,
  output_schema: any,
  ...FLOW,
}
