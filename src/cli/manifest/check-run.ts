/**
 * Checks one run that has not ended against the code and the declarations of another system: what would fail there.
 *
 * Owns the verdict. Workflow functions are replayed on the recorded run (executors/replay.ts); for agents and people only the handler and
 * the schemas are compared.
 */
import { enterBy } from '#executors/modalities.ts'
import { type Pause, type RecordedRun, type RecordedStep, replay } from '#executors/replay.ts'
import { type EnterOptions, enterFunction } from '#executors/workflow/function.ts'
import type { StoredEvent as EventDocument, OpenRun } from '#http/openapi/api.ts'
import { isOwn } from '#manifest/define/builtin-functions.ts'
import { CALLBACK } from '#manifest/define/callback.ts'
import { type FunctionDefinition, hasCode, type System } from '#manifest/define/system.ts'
import { taskOfStep } from '#manifest/human/humans.ts'
import { checkAgainst, type Schema } from '#manifest/schema/schema.ts'
import { parseInstant } from '#manifest/time/civil.ts'
import { durationMs } from '#manifest/time/duration.ts'
import { isReservedType, type StoredEvent } from '#model/event/event.ts'
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { StepFailure } from '#model/run/step-failure.ts'
import type { ScheduleContext } from '#ports/step-port.ts'

export interface Trouble {
  readonly kind:
    | 'handler_removed'
    | 'step_removed'
    | 'once_step_renamed'
    | 'input_schema_changed'
    | 'event_schema_changed'
    | 'event_removed'
    | 'code_fails'
  readonly step: string | null
  readonly text: string
}

export interface Verdict {
  readonly troubles: readonly Trouble[]
  /** Why its steps were not compared; null: they were. */
  readonly skipped: string | null
}

const MOST_NAMED = 5
const TURNS = 10
const GIVE_UP_AFTER = 40
const PAUSE_MS = 5

/** Code that waits for something of its own gets 150 ms; code that only calls steps needs a few turns of the event loop. */
const pause: Pause = async (times) => {
  await new Promise((resolve) => (times < TURNS ? setImmediate(resolve) : setTimeout(resolve, PAUSE_MS)))
  if (times >= GIVE_UP_AFTER) return 'give up'
  return times >= TURNS ? 'suppose' : 'wait'
}

const eventOf = (event: EventDocument): StoredEvent => ({
  ...{ sequence: event.sequence, id: event.id, tenant: LOCAL_TENANT, source: event.source, type: event.type },
  ...{ subject: event.subject, time: parseInstant(event.time, 'time'), data: event.data as Json },
  ...{ correlationId: event.correlation_id, causationId: event.causation_id },
  ...{ traceparent: null, hops: event.hops, chain: [] },
})

const stepOf = (seen: OpenRun['steps'][number]): RecordedStep => {
  const { state, error, once, value, timed_out: isLate, missing } = seen
  if (state === 'open') return { kind: 'open' }
  if (state === 'done') return { kind: 'done', value: value as Json, once }
  if (state === 'received')
    return {
      kind: 'received',
      answer: { status: isLate ? 'timed_out' : 'received', events: seen.events.map(eventOf), missing },
    }
  return { kind: 'failed', error: { code: (error?.code ?? 'INTERNAL') as ErrorCode, message: error?.message ?? '' } }
}

const recordOf = (run: OpenRun): RecordedRun => ({
  ...{ id: run.id as RunId, tenant: LOCAL_TENANT, attempt: run.attempt, input: run.input as Json },
  event: run.event === null ? null : eventOf(run.event),
  events: run.events.map(eventOf),
  schedule: run.schedule as ScheduleContext | null,
  steps: new Map(run.steps.map((seen) => [seen.step, stepOf(seen)])),
})

const enter = enterBy<EnterOptions>({ workflow: enterFunction({ parse: durationMs, taskOf: taskOfStep }) })

const misfit = async (schema: Schema | null, value: Json, what: string): Promise<string | null> => {
  try {
    if (schema !== null) await checkAgainst(schema, value, 'INPUT_INVALID', what)
    return null
  } catch (error) {
    return error instanceof TrihandError ? error.detail : String(error)
  }
}

/** Checks declarations: the input of the handler, and the events that started the run, that it received, or that it waits for. */
const declared = async (system: System, definition: FunctionDefinition, run: OpenRun): Promise<readonly Trouble[]> => {
  const troubles: Trouble[] = []
  const input = await misfit(definition.input, run.input as Json, `the input of ${run.handler}`)
  if (input !== null) troubles.push({ kind: 'input_schema_changed', step: null, text: input })
  const events = [...run.events.map((event) => ({ event, step: null })), ...received(run)]
  for (const { event, step } of events) {
    const schema = system.events.get(event.type)?.schema ?? null
    const text = await misfit(schema, event.data as Json, `the event ${event.sequence} (${event.type})`)
    if (text !== null) troubles.push({ kind: 'event_schema_changed', step, text })
  }
  for (const { step, waits_for: types } of run.steps)
    for (const type of types.filter((one) => !isKnown(system, one)))
      troubles.push({
        kind: 'event_removed',
        step,
        text: `it waits for the event ${type}, which the system does not declare`,
      })
  return troubles
}

const received = (run: OpenRun) => run.steps.flatMap(({ step, events }) => events.map((event) => ({ event, step })))

const isKnown = (system: System, type: string): boolean =>
  system.open || system.events.has(type) || isReservedType(type)

const isMuch = (names: readonly string[]): string =>
  names.slice(0, MOST_NAMED).join(', ') + (names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '')

const steps = async (definition: FunctionDefinition, run: OpenRun): Promise<Verdict> => {
  const record = recordOf(run)
  const { unclaimed, fresh, supposed, error, reads } = await replay(record, {
    enter: (entry, abort) => enter(entry, definition, abort),
    errors: (step, failure) => new StepFailure(step, failure),
    pause,
  })
  if (reads !== null) return { troubles: [], skipped: `its code reads ${reads}, which the run has not recorded` }
  const asked = [...fresh.keys()]
  const instead = asked.length === 0 ? '' : `; it asks for ${isMuch(asked)} instead`
  const isOnceNew = [...fresh.values()].includes('once')
  const troubles = unclaimed.map((step): Trouble => {
    const seen = record.steps.get(step)
    const isOnce = seen?.kind === 'done' && seen.once
    const what = seen?.kind === 'open' ? 'which has started' : 'which has a result'
    return {
      kind: isOnce && isOnceNew ? 'once_step_renamed' : 'step_removed',
      step,
      text: `the code does not ask for the step ${step}, ${what}${isOnce ? ' and may happen only once' : ''}${instead}`,
    }
  })
  const isUnsure = error !== null && supposed.length > 0
  if (isUnsure)
    return {
      troubles: troubles.filter(({ kind }) => kind === 'once_step_renamed'),
      skipped: `the new step ${supposed.at(-1)} comes before recorded steps, and later steps depend on its result`,
    }
  // A run that has failed before may fail again in the same way.
  const fails = error !== null && run.attempt === 1 && !(error instanceof StepFailure)
  const text = `the code fails with the recorded results of the run: ${error instanceof Error ? error.message : String(error)}`
  return {
    troubles: [...troubles, ...(fails ? [{ kind: 'code_fails' as const, step: null, text }] : [])],
    skipped: null,
  }
}

const CLEAN: Verdict = { troubles: [], skipped: null }

export const checkRun = async (system: System, run: OpenRun): Promise<Verdict> => {
  // Functions that every system has.
  if (isOwn(run.handler) || run.handler === CALLBACK) return CLEAN
  const definition = system.functions.get(run.handler)
  if (definition === undefined || !hasCode(definition)) {
    const text = `the system has no ${definition === undefined ? 'handler' : 'code for'} ${run.handler}; the run would wait (NO_HANDLER)`
    return { troubles: [{ kind: 'handler_removed', step: null, text }], skipped: null }
  }
  if (run.unreadable !== null) return { troubles: [], skipped: run.unreadable }
  const told = await declared(system, definition, run)
  if (definition.modality !== 'workflow') return { troubles: told, skipped: null }
  const { troubles, skipped } = await steps(definition, run)
  return { troubles: [...told, ...troubles], skipped }
}
