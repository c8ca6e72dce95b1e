/**
 * Every metric in one table: its name without the prefix, its help text, its labels, and the bounds of a distribution.
 *
 * Owns the names. Labels come from the manifest or a fixed list: never an id, a person, a URL or data of an event.
 */

/** The most values of one label; further ones are counted as `other`. */
export const MOST_VALUES = 200
export const OTHER = 'other'
export const PREFIX = 'trihand_'

export interface MetricSpec {
  readonly help: string
  readonly labels: readonly string[]
  /** The upper bounds of a distribution's buckets; absent: it is a counter. */
  readonly bounds?: readonly number[]
  /** Multiplies the count to give the unit of the name: `1e-6` for micro-dollars. Default: 1. */
  readonly unit?: number
}

const counter = (help: string, ...labels: readonly string[]): MetricSpec => ({ help, labels })
const distribution = (help: string, bounds: readonly number[], ...labels: readonly string[]): MetricSpec => ({
  help,
  labels,
  bounds,
})

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400] as const
const SHORT = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Counted as it happens. */
export const COUNTED = {
  events_total: counter('Events that came in or were sent', 'type', 'result'),
  triggers_suppressed_total: counter('Triggers that matched and started no run', 'reason'),
  runs_started_total: counter('Runs that started', 'handler', 'mode'),
  runs_ended_total: counter('Runs that ended', 'handler', 'status'),
  steps_total: counter('Attempts of steps that ended', 'modality', 'status'),
  step_seconds: distribution(
    'How long attempts of steps took to perform',
    [0.005, 0.025, 0.1, 0.5, 1, 5, 15, MINUTE, 5 * MINUTE, 15 * MINUTE],
    ...['modality', 'status'],
  ),
  step_uncertain_total: counter('Steps whose outcome is uncertain', 'modality'),
  decisions_total: counter('Tasks that were decided', 'action'),
  escalations_total: counter('Tasks that were escalated, and answers that were escalated to a person', 'cause'),
  tokens_total: counter('Tokens used by models', 'model', 'direction'),
  cost_usd_total: { ...counter('Cost of models, for known prices', 'model'), unit: 1e-6 },
  cost_unknown_total: counter('Calls of models with an unknown price', 'model'),
  ledger_conflicts_total: counter('Appends that conflicted with another version'),
  ledger_fenced_total: counter('Appends of a lease that had been lost'),
  ledger_readbacks_total: counter('Repeated appends that were already written'),
  ledger_refusals_total: counter('Batches that the ledger refused', 'code'),
  runs_recovered_total: counter('Leases of silent workers that were released'),
  schedule_slots_total: counter('Slots of schedules', 'outcome'),
  webhook_deliveries_total: counter('Attempts to deliver a webhook', 'result'),
  errors_total: counter('Responses that were a problem', 'code'),
  task_wait_seconds: distribution(
    'From the opening of a task to its decision',
    [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY],
    'type',
  ),
  wake_lag_seconds: distribution('Delay from the due time of a run to its wake', [...SHORT, 30, MINUTE, HOUR]),
  commit_seconds: distribution('How long the ledger took for a batch', SHORT),
  commit_appends: distribution('Appends of a batch', [1, 2, 5, 10, 25, 50, 100, 256]),
  http_seconds: distribution('How long a request took', SHORT, 'route', 'status'),
} as const satisfies Readonly<Record<string, MetricSpec>>

export type CountedName = keyof typeof COUNTED

/** Read when the metrics are asked for. */
export const GAUGES = {
  runs_open: counter('Runs that have not ended', 'status'),
  tasks_open: counter('Tasks that wait for a person', 'type', 'overdue'),
  circuit_state: counter('Circuit breakers: 0 closed, 1 half open, 2 open', 'key'),
  workers: counter('Workers with a current heartbeat', 'pool', 'state'),
  slots_used: counter('Runs leased by workers', 'pool'),
  slots_free: counter('Free slots of workers', 'pool'),
  oldest_due_seconds: counter('Waiting time of the due run that has waited longest for a worker'),
  runs_no_handler: counter('Due runs whose handler or version no running worker has'),
  intake_waiting: counter('Calls that wait for the ledger'),
  intake_oldest_seconds: counter('Waiting time of the oldest of these calls'),
  token_expiry_seconds: counter('Time until the next token expires; absent without tokens'),
  event_loop_delay_seconds: counter('Delay of the event loop', 'quantile'),
  process_resident_bytes: counter('Memory of the process'),
  process_heap_bytes: counter('Memory of its objects'),
  process_cpu_seconds: counter('Processor time', 'mode'),
  process_uptime_seconds: counter('Uptime of the process'),
  stream_clients: counter('Open streams'),
  build_info: counter('Always 1', 'version'),
  durable: counter('1: acknowledged data is on disk'),
} as const satisfies Readonly<Record<string, MetricSpec>>

export type GaugeName = keyof typeof GAUGES

/** One increment of a counter, or one value of a distribution. */
export interface Tick {
  readonly metric: CountedName
  /** In the order of the metric's labels. */
  readonly labels: readonly string[]
  readonly value: number
}

/** One value of a gauge. */
export interface Reading {
  readonly metric: GaugeName
  readonly labels: readonly string[]
  readonly value: number
}
