/**
 * Pairs of values for manifest keys that must make a visible difference when they run (played-manifest.ts).
 *
 * Owns the table: the keys of each pair, their place, and the two ways to write them.
 */
export interface KeyPair {
  /** Paths of the schema, after the section. */
  readonly keys: string
  readonly section: string
  readonly one: string
  readonly other: string
}

export const pairs = (
  section: string,
  ...rows: readonly (readonly [keys: string, one: string, other: string])[]
): readonly KeyPair[] => rows.map(([keys, one, other]) => ({ section, keys, one, other }))

/** Inside the handler `h`, which `go` starts. */
export const HANDLER_PAIRS = pairs(
  'functions',
  ['name', '', 'x-a: 1}, {name: h2, trigger: go'],
  ['enabled', 'enabled: true', 'enabled: false'],
  ['internal', 'internal: false', 'internal: true'],
  ['emits.event', 'emits: [{event: out, data: {a: 1}}]', 'emits: [{event: other, data: {a: 1}}]'],
  ['emits.on', 'emits: [{event: out, data: {a: 1}}]', 'emits: [{event: out, on: failure, data: {a: 1}}]'],
  [
    'emits.when',
    'emits: [{event: out, when: payload.n > 3, data: {a: 1}}]',
    'emits: [{event: out, when: payload.n > 9, data: {a: 1}}]',
  ],
  ['emits.delay', 'emits: [{event: out, delay: 1m, data: {a: 1}}]', 'emits: [{event: out, delay: 5m, data: {a: 1}}]'],
  ['emits.data', 'emits: [{event: out, data: {a: 1}}]', 'emits: [{event: out, data: {a: 2}}]'],
  ['entity entity_key state_in state_out', 'state_in: new, state_out: old', 'state_in: old, state_out: old'],
  ['validate_input.payload', 'validate_input: {payload: [n]}', 'validate_input: {payload: [more]}'],
  [
    'validate_input.exists',
    'validate_input: {payload: [n]}',
    "validate_input: {exists: 'items.id = {{ payload.id }}'}",
  ],
  [
    'persist.insert persist.values',
    "persist: [{insert: items, values: {id: '{{ payload.id }}', a: 1}}]",
    "persist: [{insert: items, values: {id: '{{ payload.id }}', a: 2}}]",
  ],
  [
    'persist.update persist.set persist.where',
    "persist: [{update: items, set: {a: 1}, where: 'id = {{ payload.id }}'}]",
    "persist: [{update: items, set: {a: 2}, where: 'id = {{ payload.id }}'}]",
  ],
  [
    'db_lookups.table db_lookups.where',
    "db_lookups: [{table: kept, where: 'id = {{ payload.id }}', as: a}]",
    "db_lookups: [{table: kept, where: 'id = {{ payload.id }}', as: b}]",
  ],
  [
    'db_lookups.as db_lookups.key',
    'db_lookups: [{table: kept, key: payload.id, as: a}]',
    'db_lookups: [{table: kept, key: payload.id, as: b}]',
  ],
  ['input', 'input: {type: object}', 'input: {type: object, required: [more]}'],
  ['output', 'output: {type: object}', 'output: {type: object, required: [more]}'],
  ['output_schema', 'output_schema: {type: object}', 'output_schema: {type: object, required: [more]}'],
  ['schema', 'schema: {type: object}', 'schema: {type: object, required: [more]}'],
  ['idempotency.key', 'idempotency: {key: payload.id}', 'idempotency: {key: payload.n}'],
  ['idempotency.release', 'idempotency: {key: payload.id}', 'idempotency: {key: payload.id, release: on_terminal}'],
  ['idempotency.on_conflict', 'idempotency: {key: "\'k\'"}', 'idempotency: {key: "\'k\'", on_conflict: reject}'],
  ['rate_limit.limit', 'rate_limit: {limit: 1, period: 1h}', 'rate_limit: {limit: 2, period: 1h}'],
  ['rate_limit.period', 'rate_limit: {limit: 3, period: 1s}', 'rate_limit: {limit: 1, period: 1h}'],
  ['rate_limit.key', 'rate_limit: {limit: 1, period: 1h}', 'rate_limit: {limit: 1, period: 1h, key: payload.n}'],
  ['debounce.period', 'debounce: {period: 1s}', 'debounce: {period: 1m}'],
  ['debounce.key', 'debounce: {period: 1s}', 'debounce: {period: 1s, key: payload.n}'],
  ['debounce.mode', 'debounce: {period: 1s}', 'debounce: {period: 1s, mode: leading}'],
  ['batch.max_size', 'batch: {max_size: 2, max_wait: 1h}', 'batch: {max_size: 3, max_wait: 1h}'],
  ['batch.max_wait', 'batch: {max_size: 9, max_wait: 1m}', 'batch: {max_size: 9, max_wait: 1h}'],
  ['batch.max_bytes', 'batch: {max_size: 9, max_wait: 1h}', 'batch: {max_size: 9, max_wait: 1h, max_bytes: 20B}'],
  ['batch.key', 'batch: {max_size: 2, max_wait: 1h}', 'batch: {max_size: 2, max_wait: 1h, key: payload.n}'],
  ['batch.if', 'batch: {max_size: 2, max_wait: 1h}', 'batch: {max_size: 2, max_wait: 1h, if: payload.n > 3}'],
  ['throttle.limit throttle.period', 'throttle: {limit: 1, period: 1m}', 'throttle: {limit: 9, period: 1m}'],
  ['throttle.burst', 'throttle: {limit: 1, period: 1m}', 'throttle: {limit: 1, period: 1m, burst: 3}'],
  ['throttle.key', 'throttle: {limit: 1, period: 1m}', 'throttle: {limit: 1, period: 1m, key: payload.id}'],
  [
    'throttle.cost',
    'throttle: {limit: 2, period: 1m, burst: 2}',
    'throttle: {limit: 2, period: 1m, burst: 2, cost: 2}',
  ],
  ['throttle.shared', 'throttle: {limit: 1, period: 1m}', 'throttle: {shared: few}'],
  [
    'allow_reentry',
    'emits: [{event: go, data: {id: a, n: 1}}]',
    'emits: [{event: go, data: {id: a, n: 1}}], allow_reentry: 2',
  ],
  [
    'fan_in.correlation_key',
    'fan_in: {primary: go, wait_for: [stop], correlation_key: payload.id}',
    'fan_in: {primary: go, wait_for: [stop], correlation_key: "\'all\'"}',
  ],
  [
    'fan_in.timeout',
    'fan_in: {primary: go, wait_for: [stop], correlation_key: payload.id, timeout: 1m}',
    'fan_in: {primary: go, wait_for: [stop], correlation_key: payload.id, timeout: 1h}',
  ],
  [
    'fan_in.collect',
    'fan_in: {primary: go, wait_for: [stop], correlation_key: payload.id}',
    'fan_in: {primary: go, wait_for: [stop], correlation_key: payload.id, collect: all}',
  ],
  [
    'fan_in.primary fan_in.wait_for',
    'fan_in: {primary: go, wait_for: [stop], correlation_key: payload.id}',
    'fan_in: {primary: stop, wait_for: [out], correlation_key: payload.id}',
  ],
)

/** Replaces the trigger of `h`. */
export const TRIGGER_PAIRS = pairs(
  'functions',
  ['triggers.event', 'trigger: go', 'trigger: stop'],
  ['triggers.kind', 'trigger: {event: go}', 'trigger: manual'],
  ['triggers.filter', 'trigger: {event: go, filter: payload.n > 3}', 'trigger: {event: go, filter: payload.n > 9}'],
  ['triggers.after', 'trigger: {after: echo}', 'trigger: {after: bad}'],
  ['triggers.status', 'trigger: {after: bad}', 'trigger: {after: bad, status: failed}'],
  [
    'triggers.idempotency.key',
    'trigger: {event: go, idempotency: {key: payload.id}}',
    'trigger: {event: go, idempotency: {key: payload.n}}',
  ],
  [
    'triggers.rate_limit.limit',
    'trigger: {event: go, rate_limit: {limit: 1, period: 1h}}',
    'trigger: {event: go, rate_limit: {limit: 2, period: 1h}}',
  ],
  [
    'triggers.debounce.period',
    'trigger: {event: go, debounce: {period: 1s}}',
    'trigger: {event: go, debounce: {period: 1m}}',
  ],
  [
    'triggers.batch.max_size',
    'trigger: {event: go, batch: {max_size: 2, max_wait: 1h}}',
    'trigger: {event: go, batch: {max_size: 3, max_wait: 1h}}',
  ],
)
