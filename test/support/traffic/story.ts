/**
 * Chooses the next action of a run of the traffic: one action of every kind that writes to a ledger, in an order given by its input.
 *
 * Owns the plan of a run and the commands of each action. Pure: folded state in, commands and intents out.
 */
import type { StoredEvent } from '#model/event/event.ts'
import { fits, type WaitSpec } from '#model/event/wait.ts'
import { type Instant, type RunId, runId } from '#model/kernel/ids.ts'
import { canonical } from '#model/kernel/json.ts'
import { inline, type Payload } from '#model/kernel/payload.ts'
import type { RunCommand, RunState } from '#model/run/fact.ts'
import { run } from '#model/run/run.ts'
import { asUuid } from '#test/support/random.ts'
import { digest } from './run-pen.ts'

export const ACTIONS = ['step', 'large', 'once', 'emit', 'document', 'retry', 'sleep', 'wait', 'child'] as const
export type Action = (typeof ACTIONS)[number]

export interface Intents {
  readonly commands: readonly RunCommand[]
  readonly release: boolean
  readonly blob?: { readonly hash: string; readonly text: string }
  readonly emits?: string
  readonly document?: string
  readonly wait?: { readonly step: string; readonly spec: WaitSpec }
  readonly child?: { readonly id: RunId; readonly step: string }
}

export interface Surroundings {
  readonly id: RunId
  readonly now: Instant
  readonly roll: number
  /** Events after the wait's base; empty if the run waits for none. */
  readonly events: readonly StoredEvent[]
  /** The result of an open child; null if there is none or it is still active. */
  readonly childOutput: Payload | null
  readonly position: number
  readonly answerType: string
}

const RETRY = { maxAttempts: 3, baseMs: 20, factor: 2, maxMs: 100 }
const SLEEP_MS = 40

const planOf = (state: RunState): readonly Action[] => {
  if (state.kind !== 'live' || state.start.input.kind !== 'given') return []
  const { payload } = state.start.input
  return 'value' in payload && Array.isArray(payload.value) ? (payload.value as readonly Action[]) : []
}

/** A child's id follows from its parent, so that the same draft made twice names the same child. */
const childOf = (id: RunId, step: string): RunId =>
  runId(
    asUuid(
      digest(`${id}/${step}`)
        .replace(/[^0-9a-f]/g, '')
        .padEnd(32, '0')
        .slice(0, 32),
    ),
  )

/** Large enough for a blob, and different in every run. */
const largeText = (id: RunId, step: string): string => JSON.stringify(`${id}/${step} `.repeat(2_000))

const done = (
  now: Instant,
  step: string,
  attempt: number,
  result: Payload,
  events: readonly string[] = [],
): RunCommand => ({
  type: 'complete_step',
  now,
  step,
  attempt,
  result,
  events,
})

/** Timers, events and children that have arrived since the run was parked. */
const catchUp = (state: RunState, around: Surroundings): readonly RunCommand[] => {
  if (state.kind !== 'live') return []
  const commands: RunCommand[] = [{ type: 'pass_time', now: around.now }]
  for (const [step, open] of state.open.entries()) {
    if (open.kind === 'waiting') {
      const event = around.events.find((candidate) => fits(open.wait, candidate))
      if (event !== undefined) {
        commands.push({
          type: 'receive_event',
          now: around.now,
          step,
          event: { type: event.type, sequence: event.sequence },
        })
      }
    }
    if (open.kind === 'calling' && around.childOutput !== null) {
      const end = { kind: 'done', result: around.childOutput } as const
      commands.push({ type: 'end_child', now: around.now, step, child: open.child, end })
    }
  }
  return commands
}

const act = (action: Action, step: string, around: Surroundings): Intents => {
  const { id, now } = around
  const small = inline({ step, by: id })
  switch (action) {
    case 'step':
      return { commands: [done(now, step, 1, small)], release: false }
    case 'large': {
      const text = largeText(id, step)
      const hash = digest(text)
      return {
        commands: [done(now, step, 1, { blob: hash, bytes: text.length })],
        release: false,
        blob: { hash, text },
      }
    }
    case 'once':
      return {
        commands: [{ type: 'intend_step', now, step, effectKey: `th1_${digest(`${id}/${step}`)}` }],
        release: false,
      }
    case 'emit':
      return { commands: [done(now, step, 1, small, [`${id}/${step}`])], release: false, emits: `${id}/${step}` }
    case 'document':
      return { commands: [done(now, step, 1, small)], release: false, document: `${id}/${step}` }
    case 'retry': {
      const error = { code: 'FUNCTION_FAILED', message: 'the first try of this step always fails' } as const
      const fail = { type: 'fail_step', now, step, attempt: 1, error, retryable: true, definite: true } as const
      return { commands: [{ ...fail, effect: 'idempotent', retry: RETRY, roll: around.roll }], release: true }
    }
    case 'sleep':
      return {
        commands: [{ type: 'set_timer', now, step, wakeAt: now + Math.floor(SLEEP_MS * around.roll) }],
        release: true,
      }
    case 'wait': {
      const match = { path: 'run', value: canonical(id) }
      const timeoutAt = around.roll < 0.3 ? now + SLEEP_MS : null
      const spec: WaitSpec = {
        mode: 'any',
        types: [around.answerType],
        match,
        condition: null,
        timeoutAt,
        base: around.position,
      }
      return { commands: [{ type: 'open_wait', now, step, wait: spec }], release: true, wait: { step, spec } }
    }
    case 'child': {
      const child = childOf(id, step)
      const command = { type: 'start_child', now, step, child, handler: 'traffic-child' } as const
      return { commands: [command], release: true, child: { id: child, step } }
    }
  }
}

/** The next command of an active step; null if it still waits for something outside. */
const goOn = (state: Extract<RunState, { kind: 'live' }>, step: string, around: Surroundings): Intents | null => {
  const open = state.open.get(step)
  const result = inline({ step, by: around.id })
  if (open?.kind === 'intended') return { commands: [done(around.now, step, open.attempt, result)], release: false }
  if (open?.kind === 'retrying' && open.wakeAt === null) {
    return { commands: [done(around.now, step, open.attempt + 1, result)], release: false }
  }
  return null
}

/** The next write of this run. Arrivals are written first, alone, so that every write is small and every order occurs. */
export const nextIntents = (state: RunState, around: Surroundings): Intents => {
  if (state.kind !== 'live') throw new Error('only a run that has not ended can be held')
  const missed = catchUp(state, around)
  if (missed.some((command) => saysSomething(state, command))) return { commands: missed, release: false }
  const plan = planOf(state)
  const index = plan.findIndex((_, at) => !state.settled.has(`s${at}`))
  const action = plan[index]
  if (action === undefined) {
    const output = inline({ actions: plan.length })
    return { commands: [{ type: 'finish_run', now: around.now, status: 'success', output, events: [] }], release: true }
  }
  const step = `s${index}`
  if (!state.open.has(step)) return act(action, step, around)
  return goOn(state, step, around) ?? { commands: [], release: true }
}

const saysSomething = (state: RunState, command: RunCommand): boolean => {
  const decision = run.decide(state, command)
  return decision.kind === 'facts' && decision.facts.length > 0
}
