/**
 * Every section of a manifest in its long form: the keys of each, and the shape of their values.
 *
 * Owns the table; the four handler sections are hand-sections.ts. Short forms are expanded before (normal.ts); a key that is not in the table
 * is a warning, never dropped.
 */
import { HMAC_SCHEMES, WEBHOOK_AUTHS } from '#manifest/define/webhooks.ts'
import { TURN_POLICIES } from '#model/chat/chat.ts'
import { OVERLAPS } from '#model/flow/policies/flow-source.ts'
import { agent, fn, human, plan } from './executor-sections.ts'
import { retry } from './handler-sections.ts'
import {
  any,
  duration,
  either,
  event,
  flag,
  list,
  map,
  name,
  number,
  oneOrMore,
  record,
  rule,
  text,
  textOf,
  whole,
  word,
} from './shape.ts'

const INSTANT = textOf('an instant like 2026-03-01T09:00:00Z')

const schedule = record({
  'name!': name,
  cron: text,
  every: duration,
  at: INSTANT,
  in: duration,
  tz: text,
  phase: duration,
  jitter: duration,
  start: INSTANT,
  end: INSTANT,
  exclude: list(text),
  max_runs: whole,
  function: name,
  agent: name,
  plan: name,
  emit: event,
  prompt: text,
  input: any,
  session: text,
  overlap: word(...OVERLAPS),
  missed: record({ policy: word('run_once', 'skip', 'run_all'), window: duration, max: whole, spacing: duration }),
  grace: duration,
  pause_on_failures: whole,
  count_pause: flag,
  adaptive: record({ 'min!': duration, 'max!': duration, 'yield!': rule }),
})

const webhook = record({
  'name!': name,
  path: text,
  auth: word(...WEBHOOK_AUTHS),
  scheme: word(...HMAC_SCHEMES),
  secret: oneOrMore(text),
  emits: event,
  transform: any,
  unsigned: flag,
  header: text,
  id_header: text,
  handler: record({ validation: any, transform: any }),
  routing: any,
  hookdeck: any,
})

const machine = record({
  'entity!': text,
  key: text,
  'initial!': text,
  'states!': list(record({ 'name!': text, transitions_to: list(text), terminal: flag })),
  enforce: word('warn', 'off', 'strict'),
})

const table = record({
  'name!': text,
  columns: list(record({ 'name!': text, type: text, nullable: flag, default: any, references: text })),
  access: list(record({ 'actor!': text, operations: list(text), condition: text })),
  indexes: any,
})

const model = either(
  record({
    'id!': text,
    provider: text,
    base_url: text,
    api: word('chat', 'responses'),
    context: whole,
    structured: flag,
  }),
  text,
)

/** Dollars for a million tokens. */
const price = record({ 'input!': number, 'output!': number, cached_input: number, cache_writes: number })

export const MANIFEST = record({
  'product!': record({ 'name!': text, version: text, tz: text }),
  defaults: record({ model: text, models: map(model), tz: text, retry, session: any }),
  'events!': record({
    namespace: text,
    open: flag,
    'definitions!': list(
      record({
        'name!': event,
        payload: any,
        schema: any,
        idempotency_key: text,
        source: word('machine', 'human', 'external'),
        after: event,
        action: text,
        terminal: flag,
        open: flag,
        additional: flag,
      }),
    ),
  }),
  agents: list(agent),
  functions: list(fn),
  humans: list(human),
  plans: list(plan),
  chats: list(
    record({
      'name!': name,
      description: text,
      'agent!': name,
      executors: list(
        either(record({ 'name!': name, description: text, approval: word('auto', 'always', 'never') }), name),
      ),
      on_message_while_running: word(...TURN_POLICIES),
      asks: record({ users: list(text), groups: list(text) }),
    }),
  ),
  schedules: list(schedule),
  webhooks: list(webhook),
  endpoints: list(record({ 'name!': name, 'url!': text, 'events!': list(event), secret: oneOrMore(text) })),
  state_machines: list(machine),
  executors: list(record({ 'name!': name, url: text, secret: text, handler: text })),
  modules: list(
    record({
      'name!': name,
      functions: list(name),
      tools: list(text),
      isolation: word('process', 'none'),
      folder: text,
      allow: record({
        operations: list(text),
        hosts: list(text),
        tables: record({ read: list(text), write: list(text) }),
        events: list(text),
        secrets: list(text),
        modules: list(text),
      }),
    }),
  ),
  pools: list(
    record({
      'name!': text,
      labels: map(text),
      capabilities: list(text),
      modules: list(name),
      slots: whole,
      min: whole,
      max: whole,
    }),
  ),
  session_pools: list(
    record({
      'name!': name,
      min: whole,
      max: whole,
      strategy: word('least_busy', 'round_robin', 'sticky'),
      key: rule,
      idle_timeout: duration,
      on_full: word('queue', 'reject'),
    }),
  ),
  queues: list(
    record({
      'name!': name,
      max_length: whole,
      on_full: word('reject', 'block', 'drop_oldest'),
      visibility: duration,
      max_attempts: whole,
    }),
  ),
  tenancy: record({
    enabled: flag,
    identifier: text,
    isolation: record({
      database: word('rls', 'schema', 'database'),
      storage: word('prefix', 'bucket'),
      workspace: word('prefix'),
    }),
  }),
  database: record({
    source: text,
    actors: list(record({ 'name!': text })),
    tables: list(table),
    migrations_dir: text,
  }),
  integrations: map(any),
  infrastructure: record({ inngest: any, supabase: any, anthropic: any, deployment: any }),
  limits: record({
    max_hops: whole,
    max_fan_out: whole,
    shared: map(record({ 'limit!': whole, 'period!': duration, burst: whole })),
  }),
  prices: map(price),
  observability: record({
    logging: record({ level: text, format: text }),
    tracing: record({ enabled: flag, trace_id_field: text }),
  }),
  /** Unknown keys, kept by their path. */
  extra: map(any),
})
