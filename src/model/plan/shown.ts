/**
 * A plan as the people who approve it see it: for each step the operation, its literal inputs, the sources of references, its effect, who does it
 * and its cost limit.
 *
 * Owns that rendering. It is computed once and covered by the hash of a plan. The page, the API and the command line all show exactly this: none
 * of them reads the steps themselves. Pure.
 *
 * plan-shown-1  Everything that a step was written with is rendered: no key has an effect without being shown.
 */
import { effectUnder } from '#model/agent/call-terms.ts'
import { isJsonRecord, type Json, toJson } from '#model/kernel/json.ts'
import type { Modality } from '#model/kernel/modality.ts'
import type { Effect } from '#model/run/step.ts'
import type { PlanSpec, PlanStep, PlanWait } from './plan.ts'
import type { PlanStepSource } from './source.ts'

/** The author of a name: words that a model chose do not say what is done. */
export type NamedBy = 'model' | 'person'

/** What is known about a handler when a plan is read. */
export interface HandlerFacts {
  readonly modality: Modality
  readonly effect: Effect
  /** The most that its models may cost in one run, in micro-dollars; null: no limit is set. */
  readonly maxCost: number | null
  /** Tools of an agent, operations of a function; null: not limited. */
  readonly may: readonly string[] | null
  /** Models that an agent may use; absent: those that it names. */
  readonly allowedModels?: readonly string[]
}

export interface ShownInput {
  /** For example `to` or `mail.lines[0]`. */
  readonly path: string
  /** The value as it was written. */
  readonly value: Json
  /** The sources of the references in it; empty: it is literal. */
  readonly from: readonly string[]
}

export interface ShownStep {
  readonly id: string
  readonly name: string
  readonly namedBy: NamedBy
  readonly requires: readonly string[]
  /** The handler, or `people`, `wait`, `nobody`. */
  readonly by: string
  readonly hand: Modality | null
  /** What the step does, in words. */
  readonly operation: string
  readonly inputs: readonly ShownInput[]
  /** The source of the input if none was written; null: `inputs` is all of it. */
  readonly inputFrom: string | null
  readonly effect: Effect | null
  readonly may: readonly string[] | null
  readonly maxCost: number | null
  /** Conditions, repetitions, waits, and what happens after a failure or a "no", in words. */
  readonly rules: readonly string[]
}

/** A declared plan with what people are shown of it, which is known once all handlers are known. */
export interface ShownPlan extends PlanSpec {
  readonly shown: readonly ShownStep[]
  /** Covers the goal, the steps and what is shown of them. */
  readonly hash: string
}

// -- references --------------------------------------------------------------------------------------------------------

const TEMPLATE = /\{\{(.*?)\}\}/gs
const STEPS = /\bsteps\.([A-Za-z_][\w-]*)|\bsteps\[\s*["']([^"']+)["']\s*\]/g
const NAME = /(?<![\w.-])[A-Za-z_]\w*/g
const QUOTED = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g

interface Known {
  readonly ids: ReadonlySet<string>
  readonly items: ReadonlySet<string>
}

/** Roots that are not an input of the plan. */
const OWN = new Set(['steps', 'step', 'subtask', 'run', 'event', 'trigger', 'true', 'false', 'null', 'size', 'has'])

const sourcesIn = (expression: string, { ids, items }: Known): readonly string[] => {
  const named = [...expression.matchAll(STEPS)].map(([, dotted, quoted]) => dotted ?? quoted ?? '')
  const words = expression.replaceAll(QUOTED, ' ').match(NAME) ?? []
  // The item of a list hides a step of the same name.
  const loop = words.filter((word) => items.has(word)).map(() => 'each item of the list')
  const bare = words.filter((word) => ids.has(word) && !items.has(word))
  const steps = [...named, ...bare].map((id) => `the output of step ${id}`)
  const rest = words.filter((word) => !ids.has(word) && !items.has(word) && !OWN.has(word) && !named.includes(word))
  const given = rest.length > 0 ? ['the input of the plan'] : []
  const all = [...new Set([...steps, ...loop, ...given])]
  return all.length === 0 ? ['an expression'] : all
}

const expressionOf = (value: Json): string | null => {
  if (!isJsonRecord(value)) return null
  const [only, ...more] = Object.entries(value)
  return more.length === 0 && only?.[0] === 'expr' && typeof only[1] === 'string' ? only[1] : null
}

const sourcesOf = (value: Json, known: Known): readonly string[] => {
  const expression = expressionOf(value)
  if (expression !== null) return sourcesIn(expression, known)
  if (typeof value !== 'string') return []
  return [...new Set([...value.matchAll(TEMPLATE)].flatMap(([, inner = '']) => sourcesIn(inner, known)))]
}

const PLAIN = /^[A-Za-z_][\w-]*$/
const PEOPLE = /^(user|group):/

const memberPath = (path: string, key: string): string => {
  const word = PLAIN.test(key) ? key : JSON.stringify(key)
  return path === '' ? word : `${path}.${word}`
}

/** Returns every leaf with its path, as it was written. */
const leavesOf = (value: Json, path: string, known: Known): readonly ShownInput[] => {
  const isLeaf = value === null || typeof value !== 'object' || expressionOf(value) !== null
  const isEmpty = !isLeaf && Object.keys(value).length === 0
  if (isLeaf || isEmpty) return [{ path, value, from: sourcesOf(value, known) }]
  if (Array.isArray(value)) return value.flatMap((one: Json, i) => leavesOf(one, `${path}[${i}]`, known))
  return Object.entries(value).flatMap(([key, one]) => leavesOf(one, memberPath(path, key), known))
}

// -- words -------------------------------------------------------------------------------------------------------------

const HANDS: Readonly<Record<Modality, string>> = { agent: 'agent', human: 'human', workflow: 'function' }

const waitText = (wait: PlanWait): string => {
  if ('duration' in wait) return `waits ${wait.duration}`
  return `waits for the event ${wait.event}${wait.timeout === null ? '' : `, at most ${wait.timeout}`}`
}

const ON_TIMEOUT = { continue: 'goes on', fail: 'fails', escalate: 'asks a person' } as const

const operationOf = ({ work }: PlanStep, { humanConfig, type }: PlanStepSource): string => {
  switch (work.kind) {
    case 'call':
      return `calls the ${HANDS[work.hand]} ${work.handler}`
    case 'ask':
      return `asks people (${humanConfig?.taskType ?? type ?? 'approval'})`
    case 'wait':
      return `${waitText(work.for)}, then ${ON_TIMEOUT[work.onTimeout]}`
    case 'nobody':
      return 'is done by no handler of this system'
  }
}

const ON_FAILURE = { fail: null, skip: 'skips the step', human: 'asks a person' } as const

/** Returns the handler that takes over from an agent that is not sure; null: people take over. */
export const takesOver = (escalateTo: string): string | null =>
  escalateTo === 'human' || PEOPLE.test(escalateTo) ? null : escalateTo

const escalationText = ({ condition, escalateTo, reason, deadline }: PlanStep['escalation'][number]): string => {
  const handler = takesOver(escalateTo)
  const until = deadline === undefined ? '' : ` within ${deadline}`
  return `if ${condition}: ${handler === null ? escalateTo : `calls ${handler}, which`} takes over${until} (${reason})`
}

const secondsText = (ms: number): string => `${ms / 1_000} s`

/** Says what the executor is asked for in addition to its input. */
const termsOf = (step: PlanStep, { timeout, outputSchema, agentConfig = {} }: PlanStepSource): readonly string[] => {
  const { retry, onPartial } = step
  const { model, prompt, outputSchema: ofAgent, context } = agentConfig
  const schema = outputSchema ?? ofAgent
  return [
    ...(timeout === undefined ? [] : [`ends within ${typeof timeout === 'number' ? secondsText(timeout) : timeout}`]),
    ...(retry === undefined
      ? []
      : [
          `is tried ${retry.maxAttempts} times, after ${secondsText(retry.baseMs)}, then ${retry.factor} times as long, at most ${secondsText(retry.maxMs)}`,
        ]),
    ...(onPartial === undefined
      ? []
      : [onPartial === 'fail' ? 'fails if the answer is incomplete' : 'goes on from an incomplete answer']),
    ...(model === undefined ? [] : [`asks the model ${model}`]),
    ...(prompt === undefined ? [] : [`with the instructions: ${prompt}`]),
    ...(context === undefined ? [] : [`is given as context: ${JSON.stringify(context)}`]),
    ...(schema === undefined ? [] : [`must answer: ${JSON.stringify(schema)}`]),
  ]
}

const rulesOf = (step: PlanStep, source: PlanStepSource): readonly string[] => {
  const { when, each, as, before, onFailure, onReject, onParentEnd, gate, escalation } = step
  const failed = ON_FAILURE[onFailure]
  const first = before === 'manual' ? 'a person begins it' : before === null ? null : waitText(before)
  return [
    ...(when === null ? [] : [`only if ${when.text}`]),
    ...(each === null ? [] : [`once for each ${as} of ${each.text}`]),
    ...(first === null ? [] : [`first ${first}`]),
    ...(failed === null ? [] : [`if it fails: ${failed}`]),
    ...(onReject === 'skip' ? [] : ['runs also after a "no" to what it requires']),
    ...(gate === undefined ? [] : ['does not pass the limits of what it calls']),
    ...(onParentEnd === 'cancel' ? [] : ['goes on if the plan ends before it']),
    ...termsOf(step, source),
    ...escalation.map(escalationText),
  ]
}

const withoutAbsent = (values: object): object =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

/** Returns what was written for the handler: the inputs of a call, the question to people. */
const writtenOf = (source: PlanStepSource, { work }: PlanStep): Json | null => {
  const { inputs, workflowConfig, humanConfig, approvalConfig, reviewConfig } = source
  if (work.kind === 'ask') return toJson(withoutAbsent({ ...humanConfig, inputs, approvalConfig, reviewConfig }))
  const isWritten = inputs !== undefined || workflowConfig?.inputs !== undefined
  return isWritten ? toJson({ ...inputs, ...workflowConfig?.inputs }) : null
}

const inputText = ({ requires, each }: PlanStep): string => {
  const outputs = requires.map((id) => `the output of step ${id}`)
  return ['everything that the plan is given', ...outputs, ...(each === null ? [] : ['each item of the list'])].join(
    ', ',
  )
}

const byOf = ({ work }: PlanStep): string =>
  work.kind === 'call' ? work.handler : work.kind === 'ask' ? 'people' : work.kind

export interface ShownWorld {
  readonly handlers: ReadonlyMap<string, HandlerFacts>
  namedBy(name: string): NamedBy
}

/** Returns the steps of a plan as the page, the API and the command line show them. */
export const shownSteps = ({ steps, written }: PlanSpec, { handlers, namedBy }: ShownWorld): readonly ShownStep[] => {
  const ids = new Set(steps.map(({ id }) => id))
  return steps.map((step, i) => {
    const source = written[i] ?? { id: step.id }
    const { id, name, requires, work } = step
    const facts = work.kind === 'call' ? handlers.get(work.handler) : undefined
    const given = writtenOf(source, step)
    const known = { ids, items: new Set(step.each === null ? [] : ['item', step.as]) }
    return {
      ...{ id, name, namedBy: namedBy(name), requires, by: byOf(step) },
      hand: work.kind === 'ask' ? 'human' : (facts?.modality ?? null),
      operation: operationOf(step, source),
      inputs:
        given === null || (isJsonRecord(given) && Object.keys(given).length === 0) ? [] : leavesOf(given, '', known),
      inputFrom: given === null && work.kind === 'call' ? inputText(step) : null,
      effect: facts === undefined ? null : effectUnder(facts.effect, step.terms),
      may: facts?.may ?? null,
      maxCost: facts?.maxCost ?? null,
      rules: rulesOf(step, source),
    }
  })
}

const MICROS = 1_000_000

/** The wire format. */
export const stepMembers = (step: ShownStep) => ({
  ...{
    id: step.id,
    name: step.name,
    named_by: step.namedBy,
    requires: [...step.requires],
    by: step.by,
    hand: step.hand,
  },
  operation: step.operation,
  inputs: step.inputs.map(({ path, value, from }) => ({ path, value, from: [...from] })),
  input_from: step.inputFrom,
  effect: step.effect,
  may: step.may === null ? null : [...step.may],
  cost_limit_usd: step.maxCost === null ? null : step.maxCost / MICROS,
  rules: [...step.rules],
})
