/**
 * Parses a coordinator's fact from its text, with only the members that the checks need.
 *
 * Owns the shapes as the written specification gives them. Facts that no check needs become `other`; a fact of another shape becomes null.
 */
import { type Body, readBody } from '#cli/verify/source/fact.ts'

export type CoordinatorFact =
  | {
      readonly type: 'gate.started'
      readonly run: string
      readonly events: readonly number[]
      readonly tracked: boolean
      /** Another coordinator has asked for it, and the facts of that one record the start; or the run existed before and goes on. */
      readonly isAsked: boolean
      /** The run whose step has called it, which is its parent. */
      readonly caller: string | null
      /** Its events failed in an earlier run, and were placed there. */
      readonly isAgain: boolean
    }
  /** `run`: a run that was started by name and is created only to end. */
  | {
      readonly type: 'trigger.suppressed'
      readonly sequence: number
      readonly run: string | null
      readonly isAsked: boolean
      readonly caller: string | null
    }
  /** `by` waits for the end of `run`, or no longer does. */
  | { readonly type: 'gate.followed' | 'gate.unfollowed'; readonly run: string; readonly by: string }
  /** `run`: a run that was started by name and waits. */
  | { readonly type: 'gate.buffered'; readonly run: string | null }
  /** The types that the gate listens to from now on. */
  | { readonly type: 'gate.listened'; readonly types: readonly string[] }
  | {
      readonly type: 'gate.window_opened'
      readonly key: string
      readonly events: readonly number[]
      readonly firesAt: number
    }
  | {
      readonly type: 'gate.window_joined'
      readonly key: string
      readonly sequence: number
      readonly replaces: boolean
      readonly firesAt: number
    }
  | { readonly type: 'gate.window_closed'; readonly key: string }
  | { readonly type: 'gate.withdrawn'; readonly sequence: number; readonly place: string; readonly key: string | null }
  | {
      readonly type: 'gate.start_made'
      readonly key: string
      readonly cost: number
      readonly limit: number
      readonly burst: number
      readonly periodMs: number
    }
  | { readonly type: 'gate.held'; readonly run: string | null }
  | { readonly type: 'gate.released'; readonly count: number }
  | { readonly type: 'schedule.fired'; readonly run: string; readonly slot: number; readonly origin: string }
  | { readonly type: 'schedule.run_ended'; readonly run: string }
  | { readonly type: 'queue.cycle_started'; readonly run: string }
  | { readonly type: 'paused' | 'resumed' | 'created' | 'ended' | 'other' }

const PLAIN: Readonly<Record<string, 'paused' | 'resumed' | 'created' | 'ended'>> = {
  'gate.paused': 'paused',
  'gate.resumed': 'resumed',
  'schedule.paused': 'paused',
  'schedule.resumed': 'resumed',
  'schedule.created': 'created',
  'schedule.ended': 'ended',
}

const readWithdrawn = (body: Body): CoordinatorFact => {
  const place = body.body('place')
  const key = place.orNull('key', (name) => place.text(name))
  return { type: 'gate.withdrawn', sequence: body.number('sequence'), place: place.text('kind'), key }
}

const callOf = (body: Body): Body | null => body.orNull('call', (name) => body.body(name))
const askerOf = (call: Body | null): string | null => call?.orNull('by', (name) => call.text(name)) ?? null
/** Another coordinator asked for it, or it existed before and goes on: in both cases its creation is recorded elsewhere. */
const isBornElsewhere = (call: Body | null): boolean =>
  askerOf(call) !== null || (call?.orNull('retry', (name) => call.body(name)) ?? null) !== null
const callerOf = (call: Body | null): string | null =>
  call?.orNull('parent', (name) => call.body(name).text('run')) ?? null
const runOf = (call: Body | null): string | null => call?.text('run') ?? null

const readBuffered = (body: Body): CoordinatorFact => {
  const [first] = body.body('candidate').list('events')
  return { type: 'gate.buffered', run: first === undefined ? null : runOf(callOf(first)) }
}

const readSuppressed = (body: Body): CoordinatorFact => {
  const call = callOf(body)
  const isAsked = isBornElsewhere(call)
  const [run, caller] = [runOf(call), callerOf(call)]
  return { type: 'trigger.suppressed', sequence: body.number('sequence'), run, isAsked, caller }
}

const readStarted = (body: Body): CoordinatorFact => ({
  type: 'gate.started',
  run: body.text('run'),
  events: body.numbers('events'),
  tracked: body.flag('tracked'),
  isAsked: isBornElsewhere(callOf(body)),
  caller: callerOf(callOf(body)),
  isAgain: body.orNull('attempt', (name) => body.number(name)) !== null,
})

const readStart = (body: Body): CoordinatorFact => {
  const rule = body.body('rule')
  return {
    type: 'gate.start_made',
    key: body.text('key'),
    cost: body.number('cost'),
    limit: rule.number('limit'),
    burst: rule.number('burst'),
    periodMs: rule.number('periodMs'),
  }
}

const readWindow = (type: 'gate.window_opened' | 'gate.window_joined', body: Body): CoordinatorFact => {
  const [key, firesAt] = [body.text('key'), body.number('firesAt')]
  if (type === 'gate.window_joined')
    return {
      type,
      key,
      firesAt,
      sequence: body.body('arrival').number('sequence'),
      replaces: body.text('take') === 'replace',
    }
  const events = body.body('window').body('candidate').list('events')
  return { type, key, firesAt, events: events.map((event) => event.number('sequence')) }
}

const read = (type: string, body: Body): CoordinatorFact => {
  switch (type) {
    case 'gate.started':
      return readStarted(body)
    case 'trigger.suppressed':
      return readSuppressed(body)
    case 'gate.buffered':
      return readBuffered(body)
    case 'gate.followed':
    case 'gate.unfollowed':
      return { type, run: body.text('run'), by: body.text('by') }
    case 'gate.listened':
      return {
        type,
        types: body
          .list('types')
          .flatMap((heard) =>
            heard.orNull('until', (name) => heard.number(name)) === null ? [heard.text('type')] : [],
          ),
      }
    case 'gate.window_opened':
    case 'gate.window_joined':
      return readWindow(type, body)
    case 'gate.window_closed':
      return { type, key: body.text('key') }
    case 'gate.withdrawn':
      return readWithdrawn(body)
    case 'gate.start_made':
      return readStart(body)
    case 'gate.held':
      return { type, run: runOf(callOf(body.body('arrival'))) }
    case 'gate.released':
      return { type, count: body.number('count') }
    case 'schedule.fired':
      return { type, run: body.text('run'), slot: body.number('slot'), origin: body.text('origin') }
    case 'schedule.run_ended':
    case 'queue.cycle_started':
      return { type, run: body.text('run') }
    default:
      return { type: PLAIN[type] ?? 'other' }
  }
}

/** Null if the text is not a JSON object, or lacks members that the type requires. */
export const readCoordinatorFact = (type: string, text: string): CoordinatorFact | null => {
  const body = readBody(text)
  if (body === null) return null
  try {
    return read(type, body)
  } catch {
    return null
  }
}
