/** Checks of gates, schedules and the runs they start, each with one planted fault. */
import { expect, test } from 'vitest'
import type { Arrival, Call } from '#model/event/arrival.ts'
import type { GateFact } from '#model/flow/gate-fact.ts'
import { gateId, type RunId, scheduleId } from '#model/kernel/ids.ts'
import type { ScheduleFact } from '#model/schedule/fact.ts'
import type { ScheduleSpec } from '#model/schedule/spec.ts'
import { aLedger, judge } from '#test/support/judged.ts'
import { FAR } from '#test/support/stores/clean-ledger.ts'
import { digest, type LedgerByHand } from '#test/support/stores/ledger-by-hand.ts'
import { fact, started } from '#test/support/stories/run-story.ts'

const GATE = gateId(digest('a gate'))
const SCHEDULE = scheduleId(digest('a schedule'))
const TYPE = 'order.paid'

const opened: readonly GateFact[] = [
  { type: 'gate.opened', at: 10, cursor: 0 },
  { type: 'gate.listened', at: 10, types: [{ type: TYPE, after: 0, until: null }] },
]

const startedBy = (run: RunId, events: readonly number[], tracked = true): GateFact => ({
  type: 'gate.started',
  at: 20,
  run,
  events,
  how: 'event',
  notBefore: null,
  priority: 0,
  tracked,
  line: null,
  turn: null,
  keys: [],
  claim: null,
})

const suppressed = (sequence: number): GateFact => ({
  type: 'trigger.suppressed',
  at: 20,
  sequence,
  reason: 'overlap',
  detail: '',
  into: null,
  retryAt: null,
  key: null,
})

const windowOf = (run: RunId, sequence: number): GateFact => ({
  type: 'gate.window_opened',
  at: 20,
  key: '',
  firesAt: FAR,
  claim: null,
  window: {
    candidate: {
      run,
      events: [{ sequence, key: null }],
      how: 'event',
      overlapKey: '',
      throttleKey: '',
      cost: 1,
      priority: 0,
    },
    openedAt: 20,
    newestAt: 20,
    bytes: 2,
  },
})

const joined = (sequence: number, firesAt: number): GateFact => ({
  type: 'gate.window_joined',
  at: 30,
  key: '',
  arrival: { sequence } as Arrival,
  take: 'replace',
  firesAt,
  claim: null,
})

const rule = { limit: 2, periodMs: 1_000, burst: 1 }
const startMade = (run: RunId, at: number): GateFact => ({
  ...{ type: 'gate.start_made', at, key: 'k', run, cost: 1, rule },
  ...{ pace: { idle: null, tail: null, generation: 0 }, forgetAt: at + 1_000 },
})

const created: ScheduleFact = { type: 'schedule.created', at: 10, spec: {} as ScheduleSpec }

const fired = (run: RunId, slot: number, origin: 'slot' | 'now' = 'slot'): ScheduleFact => ({
  type: 'schedule.fired',
  at: slot,
  slot,
  run,
  origin,
  missed: null,
  last: null,
})

/** A ledger with a gate, given the gate's facts and the options of a run with their id; null: there is no run. */
const aGate = async (
  facts: (run: RunId, event: number) => readonly GateFact[],
  run: { readonly parent?: typeof GATE; readonly handler?: string } | null = { parent: GATE },
): Promise<{ readonly ledger: LedgerByHand; readonly id: RunId }> => {
  const ledger = await aLedger()
  const event = await ledger.event({ type: TYPE })
  const id = ledger.newRun()
  if (run !== null)
    await ledger.run([started({ input: { kind: 'event' } }), fact('run.completed')], { id, event, ...run })
  await ledger.coordinator(GATE, [...opened, ...facts(id, event)], { hears: [TYPE] })
  return { ledger, id }
}

test('a correct gate and a correct schedule with their runs have no findings', async () => {
  const { ledger } = await aGate((run, event) => [startedBy(run, [event])])
  const run = ledger.newRun()
  await ledger.run([started(), fact('run.completed')], { id: run, parent: SCHEDULE })
  const ended: ScheduleFact = { type: 'schedule.run_ended', at: 60, run, status: 'success' }
  await ledger.coordinator(SCHEDULE, [created, fired(run, 50), ended], { handler: 'tick', wakeAt: FAR })
  expect(await judge(ledger)).toEqual([])
})

test('[V15] a start of a run that does not exist is found', async () => {
  const { ledger } = await aGate((run, event) => [startedBy(run, [event])], null)
  expect(await judge(ledger)).toEqual([{ id: 'V15', stream: GATE, seq: 2 }])
})

test('[V15] a run whose coordinator has no fact of it is found', async () => {
  const { ledger, id } = await aGate(() => [])
  expect(await judge(ledger)).toEqual([{ id: 'V15', stream: id, seq: null }])
})

test('[V15] a run that two facts start is found', async () => {
  const { ledger, id } = await aGate((run, event) => [startedBy(run, [event]), startedBy(run, [])])
  expect(await judge(ledger)).toContainEqual({ id: 'V15', stream: id, seq: null })
})

test('[V15] an event with two places at one gate is found', async () => {
  const { ledger } = await aGate((run, event) => [startedBy(run, [event]), suppressed(event)])
  expect(await judge(ledger)).toEqual([{ id: 'V15', stream: null, seq: null }])
})

test.each([
  ['another handler', { parent: GATE, handler: 'other' }],
  ['no parent although the gate minds it', {}],
])('[V4] a run that was started with %s is found', async (_, options) => {
  const { ledger } = await aGate((run, event) => [startedBy(run, [event])], options)
  expect(await judge(ledger)).toEqual([{ id: 'V4', stream: GATE, seq: 2 }])
})

test('[V4] a start fact without its required members is found', async () => {
  const { ledger } = await aGate(() => [{ type: 'gate.started', at: 20 } as GateFact], null)
  expect(await judge(ledger)).toEqual([{ id: 'V4', stream: GATE, seq: 2 }])
})

test.each([
  ['missing', 'delete from wait'],
  ['of another type', "update wait set type = 'order.lost'"],
])('[V4] a row that is %s among the types a gate listens to is found', async (_, fault) => {
  const { ledger } = await aGate((run, event) => [startedBy(run, [event])])
  await ledger.sql(fault)
  expect(await judge(ledger)).toEqual([{ id: 'V4', stream: GATE, seq: null }])
})

test.each([
  ['never', null, ['V13']],
  ['too late', FAR + 1, ['V13']],
  ['in time', FAR, []],
])('[V13] a gate with an open window that wakes %s is found unless it wakes in time', async (_, wakeAt, expected) => {
  const ledger = await aLedger()
  const event = await ledger.event({ type: TYPE })
  await ledger.coordinator(GATE, [...opened, windowOf(ledger.newRun(), event)], { hears: [TYPE], wakeAt })
  expect((await judge(ledger)).map(({ id }) => id)).toEqual(expected)
})

test('a window that was extended, closed or paused requires no earlier wake', async () => {
  const closed: GateFact = { type: 'gate.window_closed', at: 40, key: '' }
  const paused: GateFact = { type: 'gate.paused', at: 40, by: 'ana' }
  for (const [facts, wakeAt] of [
    [[joined(2, FAR + 9)], FAR + 9],
    [[closed], null],
    [[paused], null],
  ] as const) {
    const ledger = await aLedger()
    await ledger.coordinator(GATE, [...opened, windowOf(ledger.newRun(), 1), ...facts], { hears: [TYPE], wakeAt })
    expect(await judge(ledger)).toEqual([])
  }
})

test('[V13] a gate that holds events, is not paused and has no wake is found', async () => {
  const held: GateFact = { type: 'gate.held', at: 20, arrival: {} as Arrival, claim: null }
  const ledger = await aLedger()
  await ledger.coordinator(GATE, [...opened, held], { hears: [TYPE] })
  expect(await judge(ledger)).toEqual([{ id: 'V13', stream: GATE, seq: null }])
})

test('[V13] a schedule without a wake is found, unless it is paused, ended or held', async () => {
  const paused: ScheduleFact = { type: 'schedule.paused', at: 20, by: 'ana', reason: 'asked' }
  const ended: ScheduleFact = { type: 'schedule.ended', at: 20, reason: 'finished' }
  const found = async (facts: readonly ScheduleFact[], lease?: string): Promise<readonly string[]> => {
    const ledger = await aLedger()
    await ledger.coordinator(SCHEDULE, [created, ...facts], {
      handler: 'tick',
      ...(lease === undefined ? {} : { lease }),
    })
    return (await judge(ledger)).map(({ id }) => id)
  }
  expect(await found([])).toEqual(['V13'])
  expect(await found([paused])).toEqual([])
  expect(await found([ended])).toEqual([])
  expect(await found([], 'wrk-1')).toEqual([])
})

test('[V24] a slot that fired twice is found; a run that was started now is not counted', async () => {
  const ledger = await aLedger()
  const runs = [ledger.newRun(), ledger.newRun(), ledger.newRun()] as const
  for (const id of runs) await ledger.run([started(), fact('run.completed')], { id, parent: SCHEDULE })
  const facts = [created, fired(runs[0], 50), fired(runs[1], 50), fired(runs[2], 50, 'now')]
  await ledger.coordinator(SCHEDULE, facts, { handler: 'tick', wakeAt: FAR })
  expect(await judge(ledger)).toEqual([{ id: 'V24', stream: null, seq: null }])
})

test('[V15] a slot whose event was not sent is found', async () => {
  const ledger = await aLedger()
  const [sent, unsent] = [ledger.newRun(), ledger.newRun()]
  await ledger.event({ id: `evt_${sent}`, type: TYPE })
  await ledger.coordinator(SCHEDULE, [created, fired(sent, 50), fired(unsent, 60)], { handler: 'tick', wakeAt: FAR })
  expect(await judge(ledger)).toEqual([{ id: 'V15', stream: SCHEDULE, seq: 2 }])
})

test('[V15] a slot whose run waits at a gate is valid; a run that has left the gate and does not exist is found', async () => {
  const found = async (facts: (run: RunId) => readonly GateFact[]): Promise<readonly string[]> => {
    const ledger = await aLedger()
    const run = ledger.newRun()
    const ended: ScheduleFact = { type: 'schedule.ended', at: 60, reason: 'finished' }
    await ledger.coordinator(SCHEDULE, [created, fired(run, 50), ended], { handler: 'tick' })
    await ledger.coordinator(GATE, [...opened, ...facts(run)], { hears: [TYPE] })
    return (await judge(ledger)).map(({ id }) => id)
  }
  const callOf = (run: RunId): Call => ({ run, input: { kind: 'event' }, session: null, by: SCHEDULE })
  const waits = (run: RunId): GateFact => {
    const events = [{ sequence: -1, key: null, call: callOf(run) }]
    const candidate = { run, events, how: 'event', overlapKey: '', throttleKey: '', cost: 1, priority: 0 } as const
    return { type: 'gate.buffered', at: 50, candidate, displaces: 0, claim: null }
  }
  const begins = (run: RunId): GateFact => ({ ...startedBy(run, [-1]), at: 55, call: callOf(run) }) as GateFact
  expect(await found((run) => [waits(run)])).toEqual([])
  expect(await found(() => [])).toEqual(['V15'])
  expect(await found((run) => [waits(run), begins(run)])).toEqual(['V15'])
})

test('V25: [H5] more starts within a period than the throttle allows are found (14.4.1)', async () => {
  const begun = async (...instants: readonly number[]) => {
    const ledger = await aLedger()
    const made = instants.map((at) => startMade(ledger.newRun(), at))
    await ledger.coordinator(GATE, [{ type: 'gate.opened', at: 10, cursor: 0 }, ...made], {})
    return judge(ledger)
  }
  expect(await begun(100, 600, 1_100, 1_600)).toEqual([])
  expect(await begun(100, 600, 1_099)).toEqual([{ id: 'V25', stream: GATE, seq: 3 }])
})
