/**
 * One step of a run, or the run as a whole, for the panel beside the timeline: its input, prompt, costs and output.
 *
 * Owns the reading of one step from the facts of its run. The records of agents are read by agent-journal.ts. Of a value that was too long
 * for a fact only the length is given.
 */
import type { StepDetail } from '#http/openapi/api.ts'
import type { Service } from '#http/server/service.ts'
import { ERRORS, type Failure, TrihandError } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { isRunId, type RunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { nearest } from '#model/kernel/nearest.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { RunFact, RunInput } from '#model/run/fact.ts'
import type { RunSummary } from '#ports/reader.ts'
import {
  callKeyOf,
  failureIn,
  instructionsIn,
  type JournaledReply,
  notesIn,
  outcomeIn,
  replyIn,
} from './agent-journal.ts'
import { callIn, spentBy, sumBy } from './cost-totals.ts'
import { costDocument } from './costs.ts'
import { eventBySequence } from './event-detail.ts'
import { skipOf } from './fact-text.ts'
import { allFacts } from './facts.ts'
import { isoTime } from './time.ts'

const MOST_EVENTS = 20

interface Kept {
  readonly value: Json
  /** The length of a value that is not included. */
  readonly leftOut: number | null
}

const NOTHING: Kept = { value: null, leftOut: null }

const kept = (payload: Payload): Kept =>
  'value' in payload ? { value: payload.value, leftOut: null } : { value: null, leftOut: payload.bytes }

const inputOf = async (service: Service, run: RunSummary, input: RunInput): Promise<Kept> => {
  switch (input.kind) {
    case 'event': {
      const event = run.event === null ? null : await eventBySequence(service, run.event)
      return { value: event?.data ?? null, leftOut: null }
    }
    case 'events': {
      const some = input.sequences.slice(0, MOST_EVENTS)
      const events = await Promise.all(some.map((sequence) => eventBySequence(service, sequence)))
      return { value: events.map((event) => event?.data ?? null), leftOut: null }
    }
    case 'given':
    case 'scheduled':
      return kept(input.payload)
  }
}

const startOf = (facts: readonly RunFact[]): Extract<RunFact, { readonly type: 'run.started' }> | null => {
  const [first] = facts
  return first?.type === 'run.started' ? first : null
}

/** The input of a called run, read from its first fact. */
const givenTo = async (service: Service, child: RunId): Promise<Kept> => {
  const { reader, tenant } = service
  const [first] = await reader.facts(tenant, child, { after: 0, limit: 1 })
  const fact = first === undefined ? null : readRunFact(first)
  const input = fact?.type === 'run.started' ? fact.input : null
  return input?.kind === 'given' ? kept(input.payload) : NOTHING
}

const stepInput = async (service: Service, step: string, facts: readonly RunFact[]): Promise<Kept> => {
  const key = callKeyOf(step)
  const call = facts.flatMap((fact) => replyIn(fact)?.calls ?? []).find((one) => one.key === key)
  if (call !== undefined) return { value: { tool: call.tool, input: call.input }, leftOut: null }
  for (const fact of ofStep(facts, step)) {
    if (fact.type === 'child.started' && isRunId(fact.child)) return givenTo(service, fact.child)
    if (fact.type === 'wait.opened') return { value: fact.wait as unknown as Json, leftOut: null }
    if (fact.type === 'timer.set') return { value: { wake_at: isoTime(fact.wakeAt) }, leftOut: null }
  }
  return NOTHING
}

const outputIn = (fact: RunFact): Kept | null => {
  const skip = skipOf(fact)
  if (skip !== null) return { value: { status: 'skipped', ...skip }, leftOut: null }
  if (fact.type === 'step.completed') return kept(fact.result)
  if (fact.type === 'step.resolved') return fact.result === null ? null : kept(fact.result)
  if (fact.type === 'child.ended') return fact.end.kind === 'done' ? kept(fact.end.result) : null
  if (fact.type === 'wait.received')
    return {
      value:
        fact.others === undefined ? { ...fact.event } : [fact.event, ...fact.others].map((event) => ({ ...event })),
      leftOut: null,
    }
  return fact.type === 'run.completed' ? kept(fact.output) : null
}

const errorIn = (fact: RunFact): Failure | null => {
  if ('error' in fact) return fact.error
  if (fact.type === 'child.ended') return fact.end.kind === 'failed' ? fact.end.error : null
  return failureIn(fact)
}

const ofStep = (facts: readonly RunFact[], step: string | null): readonly RunFact[] =>
  facts.filter((fact) => ('step' in fact ? fact.step : null) === step)

/** The last fact counts: a successful attempt replaces an earlier failure. */
const endOf = (facts: readonly RunFact[]): { readonly output: Kept; readonly error: Failure | null } => {
  let [output, error]: [Kept, Failure | null] = [NOTHING, null]
  for (const fact of facts) {
    const answered = outputIn(fact)
    error = errorIn(fact) ?? (answered === null ? error : null)
    output = answered ?? output
  }
  return { output, error }
}

const spoken = (reply: JournaledReply): readonly { readonly role: 'agent'; readonly content: Json }[] => [
  ...(reply.text === '' ? [] : [{ role: 'agent', content: reply.text } as const]),
  ...reply.calls.map(({ tool, input }) => ({ role: 'agent', content: { tool, input } }) as const),
]

/** The prompt of a model call: its instructions and the conversation before it, from the same records that the agent continues from. */
const promptOf = (facts: readonly RunFact[], step: string, input: Json): StepDetail['prompt'] => {
  const end = facts.findIndex((fact) => 'step' in fact && fact.step === step && fact.type === 'step.completed')
  const before = end === -1 ? facts : facts.slice(0, end)
  const instructions = before.map(instructionsIn).find((found) => found !== null)
  if (instructions === undefined || instructions === null) return null
  const messages: { role: 'user' | 'agent' | 'tool'; content: Json }[] = [{ role: 'user', content: input }]
  for (const fact of before) {
    const [reply, outcome] = [replyIn(fact), outcomeIn(fact)]
    if (reply !== null) messages.push(...spoken(reply))
    if (outcome !== null) messages.push({ role: 'tool', content: outcome.output })
  }
  return { ...instructions, messages }
}

/** The calls of a reply, each with its result. */
const toolsOf = (facts: readonly RunFact[], step: string): StepDetail['tools'] => {
  const calls = ofStep(facts, step).flatMap((fact) => replyIn(fact)?.calls ?? [])
  const outcomes = new Map(facts.flatMap((fact) => outcomeIn(fact) ?? []).map(({ key, output }) => [key, output]))
  return calls.map(({ key, tool, input }) => ({
    tool,
    input,
    step: outcomes.has(key) ? `agent/tool[${key}]` : null,
    output: outcomes.get(key) ?? null,
  }))
}

const spentOn = (facts: readonly RunFact[]): StepDetail['spent'] => {
  const calls = facts.flatMap((fact) => callIn(fact) ?? [])
  const rows = calls.map((call) => ({
    day: 0,
    agent: '',
    model: call.model,
    isSimulated: call.isSimulated,
    ...spentBy(call),
  }))
  return sumBy(rows, ['model']).map(costDocument)
}

const requireStep = (facts: readonly RunFact[], step: string, run: RunId): void => {
  const names = new Set(facts.flatMap((fact) => ('step' in fact ? [fact.step] : [])))
  if (names.has(step)) return
  const near = nearest(step, [...names])
  throw new TrihandError('NOT_FOUND', `${run} has no step ${step}${near === null ? '' : `; did you mean ${near}?`}`)
}

export const stepDetail = async (service: Service, run: RunSummary, step: string | null): Promise<StepDetail> => {
  const facts = await allFacts(service, run.id)
  if (step !== null) requireStep(facts, step, run.id)
  const start = startOf(facts)
  const given = start === null ? NOTHING : await inputOf(service, run, start.input)
  const input = step === null ? given : await stepInput(service, step, facts)
  const { output, error } = endOf(ofStep(facts, step))
  const about = step === null ? facts : ofStep(facts, step)
  return {
    run: run.id,
    step,
    input: input.value,
    output: output.value,
    left_out: { input: input.leftOut, output: output.leftOut },
    prompt: step?.startsWith('agent/model') ? promptOf(facts, step, given.value) : null,
    tools: step === null ? [] : toolsOf(facts, step),
    spent: spentOn(about),
    notes: [...new Set(about.flatMap(notesIn))],
    error: error === null ? null : { code: error.code, message: error.message, hint: ERRORS[error.code]?.hint ?? null },
  }
}
