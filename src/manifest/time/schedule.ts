/**
 * Brings schedules from what an author writes to the normal form.
 *
 * Owns the options, their defaults and every refusal at definition time. Slots are calendar.ts, decisions model/schedule/schedule.ts.
 */
import { checkName, invalid } from '#manifest/define/invalid.ts'
import { compileRule } from '#manifest/expressions/rules.ts'
import { isEventType } from '#model/event/event.ts'
import type { OverlapPolicy } from '#model/flow/policies/overlap.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import type { Rule } from '#model/kernel/rule.ts'
import type { Exclusion, MissedPolicy, ScheduleSpec, Timing } from '#model/schedule/spec.ts'
import { calendarsOf } from './calendar.ts'
import { instantText, parseDate, parseInstant } from './civil.ts'
import { parseCron } from './cron.ts'
import { durationMs } from './duration.ts'
import { openZone } from './zone.ts'

type Duration = string | number
/** RFC 3339 with its offset, or milliseconds in code. */
type Moment = string | Instant

/**
 * What is started at certain times: `{ name: 'report', cron: '0 9 * * 1-5', tz: 'Europe/Berlin', function: 'send-report' }`. Durations are `30s`,
 * `2h`, or milliseconds.
 */
export interface ScheduleOptions {
  /** Its name: a letter, then at most 63 of `a-z 0-9 _ -`. */
  readonly name: string
  /** A cron expression with five fields: `0 9 * * 1-5`. Exactly one of `cron`, `every`, `at` and `in` is given. */
  readonly cron?: string
  /** An interval, a duration from 1 s: `15m`. */
  readonly every?: Duration
  /** Once, at this instant: `2026-12-24T18:00:00+01:00`. */
  readonly at?: Moment
  /** Once, this long from now; in a definition from the moment when a ledger first stores it. */
  readonly in?: Duration
  /** The time zone of `cron` and of excluded days: `Europe/Berlin`. Default: that of the system. */
  readonly tz?: string
  /** Shifts the slots of an interval, a duration shorter than it. Default: 0. */
  readonly phase?: Duration
  /** Each slot is late by up to this long, a duration, always the same for one slot. Default: 0. */
  readonly jitter?: Duration
  /** No slot before this instant. Default: no bound. */
  readonly start?: Moment
  /** No slot after this instant. Default: no bound. */
  readonly end?: Moment
  /** Slots that are left out: local days `2026-12-24` or `2026-12-24/2026-12-26`, spans `<instant>/<instant>`, cron expressions. Default: none. */
  readonly exclude?: readonly string[]
  /** How many runs it starts in all. Default: no limit. */
  readonly maxRuns?: number
  /** The function to start. Exactly one of `function`, `agent`, `plan`, `emit` and `prompt` is given. */
  readonly function?: string
  /** The agent to start. */
  readonly agent?: string
  /** The plan to start. */
  readonly plan?: string
  /** The type of the event to send. */
  readonly emit?: string
  /** The message to send to its session. */
  readonly prompt?: string
  /** The input of the run, or the data of the event. Default: null. */
  readonly input?: unknown
  /** The session that its runs share. Default: `schedule:<name>`. */
  readonly session?: string
  /**
   * What becomes of a slot while the run before it is at work: `allow`, `skip`, `buffer_one`, `buffer_all`, `cancel_running` or `terminate_running`.
   * Default: `skip`.
   */
  readonly overlap?: OverlapPolicy
  /**
   * What becomes of slots that passed while no worker lived: `policy` (`run_once`, `skip`, `run_all`), how far back (`window`), at most how many
   * (`max`), how far apart (`spacing`). Default: `run_once`, `24h`, 100, 0.
   */
  readonly missed?: {
    readonly policy?: MissedPolicy['policy']
    readonly window?: Duration
    readonly max?: number
    readonly spacing?: Duration
  }
  /** How late a slot may be and still not count as missed, a duration. Default: `1m`. */
  readonly grace?: Duration
  /** How many failures in a row pause it. Default: it is never paused. */
  readonly pauseOnFailures?: number
  /** True: slots that fall into a pause count as missed when it is resumed. Default: false. */
  readonly countPause?: boolean
  /**
   * Bounds of an interval that its own runs shorten and lengthen; `yield` is CEL over `output`: whether a run found something. Default: the interval
   * is fixed.
   */
  readonly adaptive?: { readonly min: Duration; readonly max: Duration; readonly yield: string }
}

/** What a schedule starts: a handler by name, an event by type, or a message to its session. */
export interface ScheduleTarget {
  readonly kind: 'function' | 'agent' | 'plan' | 'emit' | 'prompt'
  readonly name: string
}

export interface ScheduleFinding {
  readonly code: 'LINT_SCHEDULE_TZ'
  readonly detail: string
  readonly path: string
}

export interface ScheduleDefinition {
  readonly name: string
  readonly spec: ScheduleSpec
  readonly target: ScheduleTarget
  readonly input: Json
  /** The key of the session that every run of this schedule resumes. */
  readonly session: string
  /** The adaptive rule over `output`: whether a run was worthwhile. */
  readonly yields: Rule | null
  readonly findings: readonly ScheduleFinding[]
}

/** `now` is given for a call and null for a definition: a call must name its zone, and may count from now. */
export interface ScheduleDefaults {
  readonly tz: string | null
  readonly now: Instant | null
}

const TARGETS = ['function', 'agent', 'plan', 'emit', 'prompt'] as const
const OVERLAPS: readonly string[] = [
  'allow',
  'skip',
  'buffer_one',
  'buffer_all',
  'cancel_running',
  'terminate_running',
] satisfies readonly OverlapPolicy[]
const POLICIES: readonly string[] = ['run_once', 'skip', 'run_all'] satisfies readonly MissedPolicy['policy'][]

const MIN_EVERY_MS = 1_000
const MAX_CAUGHT_UP = 1_000
const DEFAULT_GRACE_MS = 60_000
const DEFAULT_WINDOW_MS = 86_400_000
const DEFAULT_MAX_CAUGHT_UP = 100
/** The instant from which the first slot of a calendar without a start is searched: any day will do. */
const LONG_AGO = 0
const END_OF_TIME = 8.64e15

const momentOf = (moment: Moment, path: string): Instant => {
  if (typeof moment === 'string') return parseInstant(moment, path)
  if (!Number.isSafeInteger(moment)) throw invalid(path, 'an instant must be a text, or a whole number of milliseconds')
  return moment
}

const lengthOf = (duration: Duration | undefined, fallback: number): number =>
  duration === undefined ? fallback : durationMs(duration)

const countOf = (value: number | undefined, path: string, most = Number.MAX_SAFE_INTEGER): number | null => {
  if (value === undefined) return null
  if (!Number.isSafeInteger(value) || value < 1 || value > most)
    throw invalid(path, `expected a whole number from 1${most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : ''}`)
  return value
}

const oneOf = (given: string | undefined, known: readonly string[], fallback: string, path: string): string => {
  if (given !== undefined && !known.includes(given)) throw invalid(path, `"${given}" is not one of ${known.join(', ')}`)
  return given ?? fallback
}

const everyOf = (every: Duration, phase: Duration | undefined, path: string): Timing => {
  const everyMs = durationMs(every)
  if (everyMs < MIN_EVERY_MS) throw invalid(`${path}.every`, 'an interval must be at least one second')
  const phaseMs = lengthOf(phase, 0)
  if (phaseMs >= everyMs) throw invalid(`${path}.phase`, 'a phase must be shorter than the interval')
  return { kind: 'every', everyMs, phaseMs }
}

const timingOf = (options: ScheduleOptions, path: string, now: Instant | null): Timing => {
  const { cron, every, at, in: delay, phase } = options
  const given = [cron, every, at, delay].filter((value) => value !== undefined)
  if (given.length !== 1) throw invalid(path, 'a schedule needs exactly one of cron, every, at and in')
  if (phase !== undefined && every === undefined) throw invalid(`${path}.phase`, 'only an interval can have a phase')
  if (cron !== undefined) {
    if (typeof cron !== 'string') throw invalid(`${path}.cron`, 'a cron expression must be a text, like 0 9 * * 1-5')
    parseCron(cron, `${path}.cron`)
    return { kind: 'cron', expression: cron }
  }
  if (every !== undefined) return everyOf(every, phase, path)
  if (at !== undefined) return { kind: 'at', at: momentOf(at, `${path}.at`) }
  const afterMs = lengthOf(delay, 0)
  return now === null ? { kind: 'in', afterMs } : { kind: 'at', at: now + afterMs }
}

const pairOf = (from: string, to: string, path: string): Exclusion => {
  const days = [parseDate(from), parseDate(to)]
  if (days.includes(null)) {
    const span = { kind: 'span', from: parseInstant(from, path), to: parseInstant(to, path) } as const
    if (span.from >= span.to) throw invalid(path, 'the span ends before it begins')
    return span
  }
  if (from > to) throw invalid(path, 'the last day is before the first')
  return { kind: 'days', from, to }
}

/** A slash also occurs in cron expressions, but never right after a date or an instant. */
const exclusionOf = (text: string, path: string): Exclusion => {
  if (/^\d{4}-\d{2}-\d{2}/.test(text)) {
    const [from = '', to = from, ...rest] = text.split('/')
    if (rest.length > 0) throw invalid(path, 'write a span as <from>/<to>')
    return pairOf(from, to, path)
  }
  parseCron(text, path)
  return { kind: 'cron', expression: text }
}

const targetOf = (options: ScheduleOptions, path: string): ScheduleTarget => {
  const given = TARGETS.flatMap((kind) => {
    const name = options[kind]
    return name === undefined ? [] : [{ kind, name }]
  })
  const [target] = given
  if (target === undefined || given.length > 1)
    throw invalid(path, 'a schedule must start exactly one of function, agent, plan, emit and prompt')
  if (target.kind === 'emit' && !isEventType(target.name))
    throw invalid(`${path}.emit`, `"${target.name}" is not an event type`)
  if (target.kind === 'prompt' && options.session === undefined)
    throw invalid(`${path}.prompt`, 'a prompt needs a session; name it')
  return target
}

const missedOf = (missed: ScheduleOptions['missed'], path: string): MissedPolicy => ({
  policy: oneOf(missed?.policy, POLICIES, 'run_once', `${path}.policy`) as MissedPolicy['policy'],
  windowMs: lengthOf(missed?.window, DEFAULT_WINDOW_MS),
  max: countOf(missed?.max, `${path}.max`, MAX_CAUGHT_UP) ?? DEFAULT_MAX_CAUGHT_UP,
  spacingMs: lengthOf(missed?.spacing, 0),
})

const adaptiveOf = (options: ScheduleOptions, timing: Timing, path: string): ScheduleSpec['adaptive'] => {
  if (options.adaptive === undefined) return null
  if (timing.kind !== 'every' || options.phase !== undefined)
    throw new TrihandError('POLICY_CONFLICT', `${path}: only an interval without a phase can be adaptive`, {
      place: { path },
    })
  if (options.jitter !== undefined || options.exclude !== undefined)
    throw new TrihandError('POLICY_CONFLICT', `${path}: an adaptive schedule cannot have jitter or exclude`, {
      place: { path },
    })
  const [minMs, maxMs] = [durationMs(options.adaptive.min), durationMs(options.adaptive.max)]
  if (minMs < MIN_EVERY_MS || minMs > timing.everyMs || timing.everyMs > maxMs)
    throw invalid(path, 'expected 1s <= min <= every <= max')
  return { minMs, maxMs }
}

const needsZone = (timing: Timing, exclude: readonly Exclusion[]): boolean =>
  timing.kind === 'cron' || exclude.some(({ kind }) => kind !== 'span')

interface ZoneChoice {
  readonly tz: string
  readonly findings: readonly ScheduleFinding[]
}

const zoneOf = (given: string | undefined, defaults: ScheduleDefaults, needed: boolean, path: string): ZoneChoice => {
  const tz = given ?? (defaults.now === null ? defaults.tz : null)
  if (tz !== null) {
    openZone(tz, `${path}.tz`)
    return { tz, findings: [] }
  }
  if (!needed) return { tz: 'UTC', findings: [] }
  if (defaults.now !== null)
    throw new TrihandError('SCHEDULE_TZ_REQUIRED', `${path} has no time zone`, { place: { path } })
  const detail = 'the schedule has no time zone: UTC is used'
  return { tz: 'UTC', findings: [{ code: 'LINT_SCHEDULE_TZ', detail, path }] }
}

const checkFires = (spec: ScheduleSpec, path: string): void => {
  if (spec.adaptive !== null || spec.timing.kind === 'in') return
  const from = spec.start ?? LONG_AGO
  // The digest is for jitter, which does not affect whether a slot exists.
  for (const _ of calendarsOf('', () => '')(spec).slots(from - 1, END_OF_TIME)) return
  const bounds = [spec.start, spec.end].map((bound) => (bound === null ? 'any time' : instantText(bound)))
  throw new TrihandError('SCHEDULE_NEVER_FIRES', `${path}: there are no slots from ${bounds.join(' to ')}`, {
    place: { path },
  })
}

export const defineSchedule = (
  options: ScheduleOptions,
  path: string,
  defaults: ScheduleDefaults,
): ScheduleDefinition => {
  checkName(options.name, path)
  const timing = timingOf(options, path, defaults.now)
  const exclude = (options.exclude ?? []).map((text, i) => exclusionOf(text, `${path}.exclude[${i}]`))
  const { tz, findings } = zoneOf(options.tz, defaults, needsZone(timing, exclude), path)
  const { start, end, adaptive } = options
  const spec: ScheduleSpec = {
    timing,
    tz,
    jitterMs: lengthOf(options.jitter, 0),
    start: start === undefined ? null : momentOf(start, `${path}.start`),
    end: end === undefined ? null : momentOf(end, `${path}.end`),
    exclude,
    maxRuns: countOf(options.maxRuns, `${path}.maxRuns`),
    overlap: oneOf(options.overlap, OVERLAPS, 'skip', `${path}.overlap`) as OverlapPolicy,
    missed: missedOf(options.missed, `${path}.missed`),
    graceMs: lengthOf(options.grace, DEFAULT_GRACE_MS),
    pauseOnFailures: countOf(options.pauseOnFailures, `${path}.pauseOnFailures`),
    countPause: options.countPause ?? false,
    adaptive: adaptiveOf(options, timing, `${path}.adaptive`),
  }
  checkFires(spec, path)
  return {
    name: options.name,
    spec,
    target: targetOf(options, path),
    input: toJson(options.input),
    session: options.session ?? `schedule:${options.name}`,
    yields: adaptive === undefined ? null : compileRule(adaptive.yield, ['output', 'result']),
    findings,
  }
}
