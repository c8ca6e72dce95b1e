/**
 * What a step of a plan asks of its handler, besides the input: time, tries, effect class, a model, an answer of a given shape.
 *
 * Owns which of these keys belong to which kind of step, and every refusal: a key that would have no effect is an error, never ignored.
 */
import { invalidAt, oneOf, wholeNumber, withPath } from '#manifest/expressions/ranges.ts'
import { compileValue } from '#manifest/expressions/values.ts'
import { checkJsonSchema, jsonSchema } from '#manifest/schema/ajv-schema.ts'
import { jsonSchemaOf } from '#manifest/schema/json-schema.ts'
import { checkAgainst } from '#manifest/schema/schema.ts'
import { durationMs } from '#manifest/time/duration.ts'
import type { CallTerms } from '#model/agent/call-terms.ts'
import { DEFAULT_RETRY } from '#model/flow/policies/retry.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import type { PlanStep, PlanWait, PlanWork } from '#model/plan/plan.ts'
import type { PlanStepSource } from '#model/plan/source.ts'

type Terms = Pick<PlanStep, 'terms' | 'retry' | 'onPartial' | 'check' | 'context'>

const EFFECTS = ['idempotent', 'once', 'transactional'] as const
const PARTIALS = ['accept', 'continue', 'fail'] as const
const MAX_ATTEMPTS = 1_000
const MAX_MS = 3_650 * 86_400_000
/** A file name for a prompt has no spaces and ends with `.md`. */
const PROMPT_FILE = /^[^\s{}]+\.md$/

const retryOf = (path: string, given: PlanStepSource['retry']): Pick<Terms, 'retry'> => {
  if (given === undefined) return {}
  const { maxAttempts, baseMs, factor, maxMs } = { ...DEFAULT_RETRY, ...given }
  wholeNumber(`${path}.maxAttempts`, maxAttempts, { min: 1, max: MAX_ATTEMPTS })
  for (const [name, value] of Object.entries({ baseMs, maxMs }))
    if (!(value >= 0 && value <= MAX_MS)) throw invalidAt(`${path}.${name}`, 'expected milliseconds, up to ten years')
  if (!(factor >= 1 && Number.isFinite(factor))) throw invalidAt(`${path}.factor`, 'expected a number from 1')
  return { retry: { maxAttempts, baseMs, factor, maxMs } }
}

const schemaOf = (path: string, given: unknown): Json => {
  const schema = withPath(path, () => jsonSchemaOf(given, path))
  checkJsonSchema(schema, path)
  return schema
}

const checkOf = (schema: Json, what: string): NonNullable<PlanStep['check']> => {
  const compiled = jsonSchema(schema)
  return (output) => checkAgainst(compiled, output, 'OUTPUT_INVALID', what)
}

const agentTerms = (path: string, { agentConfig = {} }: PlanStepSource, output: Json | null): CallTerms['agent'] => {
  const { model, prompt } = agentConfig
  if (prompt !== undefined && prompt.trim() === '') throw invalidAt(`${path}.agentConfig.prompt`, 'the prompt is empty')
  return {
    ...(model !== undefined && { model }),
    ...(prompt !== undefined &&
      (PROMPT_FILE.test(prompt) ? { prompt: [prompt], instructions: null } : { instructions: prompt })),
    ...(output !== null && { output }),
  }
}

const isEmpty = (value: object | undefined): boolean => value === undefined || Object.keys(value).length === 0

const refuseUnless = (isMeant: boolean, path: string, value: unknown, problem: string): void => {
  if (value !== undefined && !isMeant) throw invalidAt(path, problem)
}

/** Refuses keys of another kind of step, which would have no effect. */
const refuseStrange = (path: string, step: PlanStepSource, work: PlanWork): void => {
  const { humanConfig, agentConfig, workflowConfig, inputs, escalationRules, onParentEnd } = step
  const called = work.kind === 'call' ? work.handler : null
  refuseUnless(
    work.kind !== 'call',
    `${path}.humanConfig`,
    humanConfig,
    `${called} already defines what people are asked; omit human_config or the name`,
  )
  for (const [key, value] of Object.entries({ inputs, agentConfig, workflowConfig, humanConfig }))
    refuseUnless(work.kind !== 'wait', `${path}.${key}`, value, 'a wait step cannot have this key; omit it')
  for (const [key, name] of [
    ['agentConfig.agentId', agentConfig?.agentId],
    ['workflowConfig.functionName', workflowConfig?.functionName],
  ] as const)
    refuseUnless(
      called === null || name === called,
      `${path}.${key}`,
      name,
      `the step calls ${called}, not ${name}; keep one of them`,
    )
  refuseUnless(
    work.kind === 'nobody' || (work.kind === 'call' && work.hand !== 'human'),
    `${path}.escalationRules`,
    escalationRules,
    'only the answer of an agent or a function can escalate; the answer of a person is final',
  )
  refuseUnless(
    work.kind === 'call' || work.kind === 'nobody' || onParentEnd === 'cancel',
    `${path}.onParentEnd`,
    onParentEnd,
    'only a called run can continue after the plan; omit the key',
  )
}

const refuseMisplaced = (path: string, step: PlanStepSource, work: PlanWork): void => {
  refuseStrange(path, step, work)
  const isCall = work.kind === 'call' || work.kind === 'nobody'
  const isAgent = work.kind === 'nobody' || (work.kind === 'call' && work.hand === 'agent')
  const isFunction = work.kind === 'nobody' || (work.kind === 'call' && work.hand === 'workflow')
  const { agentConfig = {}, effect, onPartial } = step
  refuseUnless(
    isFunction || effect === 'idempotent',
    `${path}.effect`,
    effect,
    'only a step that calls a function can have an effect; the decision of a person or an agent is recorded once',
  )
  refuseUnless(
    isCall || onPartial === 'accept',
    `${path}.onPartial`,
    onPartial,
    'only a called handler can end partial; omit the key',
  )
  for (const key of ['model', 'prompt', 'outputSchema', 'context'] as const)
    refuseUnless(
      isAgent,
      `${path}.agentConfig.${key}`,
      agentConfig[key],
      'the step calls no agent; name one with agent_id or assigned_to, or omit the key',
    )
  refuseUnless(
    work.kind !== 'wait',
    `${path}.retry`,
    step.retry,
    'a wait is not retried; omit the key, or raise wait_config.timeout',
  )
  refuseUnless(
    work.kind !== 'wait',
    `${path}.outputSchema`,
    step.outputSchema,
    'the output of a wait is the event; check the data of the event where it is declared',
  )
  for (const [key, meant] of [
    ['approvalConfig', 'ask'],
    ['reviewConfig', 'ask'],
  ] as const)
    refuseUnless(
      work.kind === meant,
      `${path}.${key}`,
      step[key],
      'the step does not ask people directly; set this at the human that it calls, or make it an approval',
    )
}

export const stepTerms = (path: string, step: PlanStepSource, work: PlanWork, roots: readonly string[]): Terms => {
  refuseMisplaced(path, step, work)
  const { effect = 'idempotent', onPartial = 'accept', timeout, agentConfig = {} } = step
  oneOf(`${path}.effect`, effect, EFFECTS)
  const partial = oneOf(`${path}.onPartial`, onPartial, PARTIALS)
  const ofAgent =
    agentConfig.outputSchema === undefined
      ? null
      : schemaOf(`${path}.agentConfig.outputSchema`, agentConfig.outputSchema)
  const own = step.outputSchema === undefined ? null : schemaOf(`${path}.outputSchema`, step.outputSchema)
  const isAgent = work.kind === 'call' && work.hand === 'agent'
  const agent = isAgent ? agentTerms(path, step, ofAgent ?? own) : undefined
  const withinMs = timeout === undefined ? undefined : withPath(`${path}.timeout`, () => durationMs(timeout))
  if (withinMs === 0) throw invalidAt(`${path}.timeout`, 'the timeout must be above 0')
  const terms: CallTerms = {
    ...(withinMs !== undefined && { withinMs }),
    ...(effect !== 'idempotent' && { effect }),
    ...(partial !== 'accept' && { tellsPartial: true }),
    ...(!isEmpty(agent) && agent !== undefined && { agent }),
  }
  const promised = own ?? ofAgent
  return {
    ...(work.kind === 'call' && !isEmpty(terms) && { terms }),
    ...retryOf(`${path}.retry`, step.retry),
    ...(partial !== 'accept' && { onPartial: partial }),
    ...(promised !== null && { check: checkOf(promised, `the output of ${step.id}`) }),
    ...(agentConfig.context !== undefined && {
      context: withPath(`${path}.agentConfig.context`, () => compileValue(toJson(agentConfig.context), roots)),
    }),
  }
}

/** The deadline of a question or the end of a wait: each has its own key for that, and only one of the two may be written. */
export const timeoutOfWait = (path: string, wait: PlanWait, timeout: PlanStepSource['timeout']): PlanWait => {
  if (timeout === undefined) return wait
  if ('duration' in wait)
    throw invalidAt(`${path}.timeout`, 'a wait for a duration has no timeout; change the duration')
  if (wait.timeout !== null)
    throw invalidAt(`${path}.timeout`, 'the wait already has a timeout in wait_config; keep one of the two')
  withPath(`${path}.timeout`, () => durationMs(timeout))
  return { ...wait, timeout }
}

/** A question that is not answered by then ends without an approval. */
export const timeoutOfAsk = (
  path: string,
  { timeout, humanConfig = {} }: PlanStepSource,
): Pick<NonNullable<PlanStepSource['humanConfig']>, 'deadline' | 'autoActionOnTimeout'> => {
  if (timeout === undefined) return {}
  for (const key of ['deadline', 'escalation'] as const)
    if (humanConfig[key] !== undefined)
      throw invalidAt(`${path}.timeout`, `human_config already has a ${key}; keep one of the two`)
  withPath(`${path}.timeout`, () => durationMs(timeout))
  return { deadline: timeout, autoActionOnTimeout: humanConfig.autoActionOnTimeout ?? 'expire' }
}
