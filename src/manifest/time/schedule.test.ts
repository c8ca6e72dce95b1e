/** Schedules as authors write them: the normal form, and what is refused. */
import { describe, expect, test } from 'vitest'
import { TrihandError } from '#model/kernel/errors.ts'
import { defineSchedule, type ScheduleDefaults, type ScheduleDefinition, type ScheduleOptions } from './schedule.ts'

const IN_A_SYSTEM: ScheduleDefaults = { tz: 'Europe/Berlin', now: null }
const IN_A_CALL: ScheduleDefaults = { tz: 'Europe/Berlin', now: 1_000 }
const HOURLY: ScheduleOptions = { name: 'report', every: '1h', function: 'send_report' }
const NOON: ScheduleOptions = { name: 'report', cron: '0 12 * * *', function: 'send_report' }

const define = (options: ScheduleOptions, defaults = IN_A_SYSTEM): ScheduleDefinition =>
  defineSchedule(options, 'schedules.report', defaults)
const problemOf = (options: ScheduleOptions, defaults = IN_A_SYSTEM): string => {
  try {
    define(options, defaults)
  } catch (error) {
    return error instanceof TrihandError ? error.message : `thrown: ${error}`
  }
  return 'none'
}

test('a schedule gets its defaults', () =>
  expect(define(NOON)).toStrictEqual({
    name: 'report',
    spec: {
      timing: { kind: 'cron', expression: '0 12 * * *' },
      tz: 'Europe/Berlin',
      jitterMs: 0,
      start: null,
      end: null,
      exclude: [],
      maxRuns: null,
      overlap: 'skip',
      missed: { policy: 'run_once', windowMs: 86_400_000, max: 100, spacingMs: 0 },
      graceMs: 60_000,
      pauseOnFailures: null,
      countPause: false,
      adaptive: null,
    },
    target: { kind: 'function', name: 'send_report' },
    input: null,
    session: 'schedule:report',
    yields: null,
    findings: [],
  }))

test('every option has its normal form', () => {
  const { spec } = define({
    ...HOURLY,
    phase: '5m',
    jitter: '30s',
    start: '2026-01-01T00:00:00Z',
    end: 2_000_000_000_000,
    exclude: ['2026-12-24', '2026-12-24/2026-12-26', '2026-05-01T00:00:00Z/2026-05-02T00:00:00Z', '* 12 * * *'],
    maxRuns: 3,
    overlap: 'buffer_one',
    missed: { policy: 'run_all', window: '2d', max: 5, spacing: '1m' },
    grace: 500,
    pauseOnFailures: 2,
    countPause: true,
  })
  expect(spec).toMatchObject({
    timing: { kind: 'every', everyMs: 3_600_000, phaseMs: 300_000 },
    jitterMs: 30_000,
    start: Date.UTC(2026, 0, 1),
    end: 2_000_000_000_000,
    exclude: [
      { kind: 'days', from: '2026-12-24', to: '2026-12-24' },
      { kind: 'days', from: '2026-12-24', to: '2026-12-26' },
      { kind: 'span', from: Date.UTC(2026, 4, 1), to: Date.UTC(2026, 4, 2) },
      { kind: 'cron', expression: '* 12 * * *' },
    ],
    maxRuns: 3,
    overlap: 'buffer_one',
    missed: { policy: 'run_all', windowMs: 172_800_000, max: 5, spacingMs: 60_000 },
    graceMs: 500,
    pauseOnFailures: 2,
    countPause: true,
  })
})

describe('[H3] a moment', () => {
  test('is an instant with its offset', () =>
    expect(define({ name: 'once', at: '2026-03-01T09:00:00+01:00', emit: 'day.began' }).spec.timing).toEqual({
      kind: 'at',
      at: Date.UTC(2026, 2, 1, 8),
    }))

  test('is a delay from now in a call', () =>
    expect(define({ name: 'soon', in: '10s', function: 'f' }, IN_A_CALL).spec.timing).toEqual({
      kind: 'at',
      at: 11_000,
    }))

  test('is a delay from its first declaration in a definition', () =>
    expect(define({ name: 'soon', in: '10s', function: 'f' }).spec.timing).toEqual({ kind: 'in', afterMs: 10_000 }))
})

describe('a missing time zone', () => {
  test('is UTC with a finding if the system has none either', () => {
    const definition = define(NOON, { tz: null, now: null })
    expect(definition.spec.tz).toBe('UTC')
    expect(definition.findings).toMatchObject([{ code: 'LINT_SCHEDULE_TZ', path: 'schedules.report' }])
  })

  test('does not matter for an interval', () => {
    expect(define(HOURLY, { tz: null, now: null }).findings).toEqual([])
    expect(define(HOURLY, IN_A_CALL).spec.tz).toBe('UTC')
  })

  test('is refused in a call', () => {
    expect(problemOf(NOON, IN_A_CALL)).toContain('SCHEDULE_TZ_REQUIRED: schedules.report')
    expect(problemOf({ ...HOURLY, exclude: ['2026-12-24'] }, IN_A_CALL)).toContain('SCHEDULE_TZ_REQUIRED')
  })
})

test('an adaptive schedule evaluates its rule on the output', () => {
  const { yields, spec } = define({ ...HOURLY, adaptive: { min: '1m', max: '1d', yield: 'output.found > 0' } })
  expect(spec.adaptive).toEqual({ minMs: 60_000, maxMs: 86_400_000 })
  expect(yields?.({ output: { found: 2 }, result: null })).toEqual({ kind: 'value', value: true })
})

test.each<readonly [string, ScheduleOptions, string]>([
  ['a cron that is no text', { ...NOON, cron: 5 as unknown as string }, 'MANIFEST_INVALID'],
  ['the 30th of February', { ...NOON, cron: '0 0 30 2 *' }, 'SCHEDULE_NEVER_FIRES'],
  ['no slot between start and end', { ...HOURLY, start: 1, end: 2 }, 'SCHEDULE_NEVER_FIRES'],
  ['nothing left by exclude', { ...NOON, exclude: ['* 12 * * *'] }, 'SCHEDULE_NEVER_FIRES'],
  ['a moment after the end', { name: 'once', at: 5, end: 4, function: 'f' }, 'SCHEDULE_NEVER_FIRES'],
  ['a zone that does not exist', { ...NOON, tz: 'Europe/Bonn' }, '"Europe/Bonn" is not a time zone'],
  ['a bad name', { ...NOON, name: 'No' }, 'a name must begin with a letter'],
  ['no timing', { name: 'report', function: 'f' }, 'exactly one of cron, every, at and in'],
  ['two timings', { ...NOON, every: '1h' }, 'exactly one of cron, every, at and in'],
  ['a bad expression', { ...NOON, cron: '61 * * * *' }, 'schedules.report.cron: "61 * * * *" is not a cron expression'],
  ['a phase of cron', { ...NOON, phase: '1m' }, 'only an interval can have a phase'],
  ['a phase longer than its interval', { ...HOURLY, phase: '1h' }, 'a phase must be shorter'],
  ['a tick too fast', { ...HOURLY, every: '999ms' }, 'must be at least one second'],
  ['an instant without its offset', { ...NOON, start: '2026-01-01T00:00:00' }, 'INSTANT_WITHOUT_ZONE'],
  ['half a millisecond', { ...NOON, start: 0.5 }, 'whole number of milliseconds'],
  [
    'an exclusion backwards',
    { ...NOON, exclude: ['2026-01-02/2026-01-01'] },
    'schedules.report.exclude[0]: the last day',
  ],
  ['a span backwards', { ...NOON, exclude: ['2026-01-02T00:00:00Z/2026-01-01T00:00:00Z'] }, 'ends before it begins'],
  ['a span of three', { ...NOON, exclude: ['2026-01-01/2026-01-02/2026-01-03'] }, 'write a span as'],
  ['no target', { name: 'report', every: '1h' }, 'exactly one of function, agent'],
  ['two targets', { ...HOURLY, emit: 'a.b' }, 'exactly one of function, agent'],
  ['a bad event type', { name: 'report', every: '1h', emit: 'A B' }, '"A B" is not an event type'],
  ['a prompt to nobody', { name: 'report', every: '1h', prompt: 'Go on.' }, 'a prompt needs a session'],
  ['no runs at all', { ...HOURLY, maxRuns: 0 }, 'schedules.report.maxRuns: expected a whole number from 1'],
  ['too many to catch up', { ...HOURLY, missed: { max: 1_001 } }, 'expected a whole number from 1 to 1000'],
  ['an unknown overlap', { ...HOURLY, overlap: 'queue' as 'skip' }, '"queue" is not one of allow, skip'],
  ['an unknown policy', { ...HOURLY, missed: { policy: 'all' as 'skip' } }, '"all" is not one of run_once'],
  ['adaptive cron', { ...NOON, adaptive: { min: '1m', max: '1h', yield: 'true' } }, 'POLICY_CONFLICT'],
  [
    'adaptive jitter',
    { ...HOURLY, jitter: '1m', adaptive: { min: '1m', max: '1h', yield: 'true' } },
    'POLICY_CONFLICT',
  ],
  ['bounds around nothing', { ...HOURLY, adaptive: { min: '2h', max: '3h', yield: 'true' } }, 'min <= every <= max'],
  ['a rule over other roots', { ...HOURLY, adaptive: { min: '1m', max: '1h', yield: 'event.id' } }, 'EXPR_REJECTED'],
  ['input that is not JSON', { ...HOURLY, input: new Map() }, 'JSON_INVALID'],
])('%s is refused', (_, options, problem) => expect(problemOf(options)).toContain(problem))
