/**
 * The executor contract on the wire: envelope and result under the contract's names, checked in both directions.
 *
 * Owns every wire name of the contract; no other file spells `task_id`. An unknown key, a missing one or a wrong type is refused with
 * its path: a misspelt constraint must not be ignored silently.
 *
 * contract-1  What is written can be read back to the same value.
 * contract-2  A success has a result, a partial has a result, a failure has an error; anything else is not an answer.
 */
import type { Usage } from '#model/agent/usage.ts'
import type { WireConstraints } from '#model/flow/policies/constraints.ts'
import { ERRORS, isErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { isPlainText } from '#model/kernel/ids.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import type {
  Abort,
  Constraints,
  Envelope,
  ExecutionContext,
  Executor,
  ExecutorResult,
  RetrievedDocument,
  Utterance,
} from '#ports/executor.ts'

/** The version that this file implements. Another major version is refused; absent means this one. */
export const CONTRACT = '1'

const DEFAULT_TIMEOUT_MS = 30_000
const MAX_ID_LENGTH = 128
const TYPE = /^[a-z][a-z0-9_-]{0,63}$/

type Members = { readonly [key: string]: Json }

const refuse = (path: string, problem: string): TrihandError =>
  new TrihandError('ENVELOPE_INVALID', `${path === '' ? 'the envelope' : path} ${problem}`, { place: { path } })

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`)

const membersOf = (value: Json | undefined, path: string, known: readonly string[] | null): Members => {
  if (value === null || value === undefined || typeof value !== 'object' || Array.isArray(value))
    throw refuse(path, 'must be an object')
  const stranger = known === null ? undefined : Object.keys(value).find((key) => !known.includes(key))
  if (stranger !== undefined) throw refuse(join(path, stranger), `is not a key of the contract; expected ${known}`)
  return value as Members
}

const textOf = (value: Json | undefined, path: string): string => {
  if (typeof value !== 'string' || value === '') throw refuse(path, 'must be a text')
  return value
}

const numberOf = (
  value: Json | undefined,
  path: string,
  limits: { readonly min: number; readonly max: number },
): number => {
  if (typeof value !== 'number' || value < limits.min || value > limits.max)
    throw refuse(path, `must be a number from ${limits.min} to ${limits.max}`)
  return value
}

const wholeOf = (value: Json | undefined, path: string, min: number): number => {
  if (!Number.isSafeInteger(value) || (value as number) < min) throw refuse(path, `must be a whole number from ${min}`)
  return value as number
}

const listOf = <T>(value: Json | undefined, path: string, read: (item: Json, path: string) => T): readonly T[] => {
  if (!Array.isArray(value)) throw refuse(path, 'must be a list')
  return value.map((item, i) => read(item, `${path}.${i}`))
}

/** Reads an optional member, under our own name for it. */
const optional = <Name extends string, T>(
  value: Json | undefined,
  name: Name,
  read: (value: Json) => T,
): { readonly [key in Name]?: T } =>
  value === undefined ? {} : ({ [name]: read(value) } as { readonly [key in Name]?: T })

const given = (key: string, value: Json | undefined): Members => (value === undefined ? {} : { [key]: value })

// -- envelope ---------------------------------------------------------------------------------------------------------

const utterance = (value: Json, path: string): Utterance => {
  const { role, content } = membersOf(value, path, ['role', 'content'])
  return {
    role: textOf(role, `${path}.role`),
    content: typeof content === 'string' ? content : textOf(content, `${path}.content`),
  }
}

const document = (value: Json, path: string): RetrievedDocument => {
  const { title, snippet } = membersOf(value, path, ['title', 'snippet'])
  return {
    title: textOf(title, `${path}.title`),
    snippet: typeof snippet === 'string' ? snippet : textOf(snippet, `${path}.snippet`),
  }
}

const projectId = (value: Json): string | number => {
  if (typeof value !== 'string' && typeof value !== 'number')
    throw refuse('execution_context.project_id', 'must be a text or a number')
  return value
}

const CONTEXT_KEYS = [
  'project_id',
  'conversation_snippet',
  'retrieved_documents',
  'attempt',
  'effect_key',
  'resume_token',
]

const readContext = (value: Json | undefined): ExecutionContext => {
  const path = 'execution_context'
  const wire = membersOf(value, path, CONTEXT_KEYS)
  return {
    // Not sent: an executor does not need to know the run to do its task.
    run: '',
    step: '',
    traceparent: null,
    attempt: wire['attempt'] === undefined ? 1 : wholeOf(wire['attempt'], `${path}.attempt`, 1),
    ...optional(wire['effect_key'], 'effectKey', (key) => textOf(key, `${path}.effect_key`)),
    ...optional(wire['resume_token'], 'resumeToken', (token) => textOf(token, `${path}.resume_token`)),
    ...optional(wire['project_id'], 'projectId', projectId),
    ...optional(wire['conversation_snippet'], 'conversation', (list) =>
      listOf(list, `${path}.conversation_snippet`, utterance),
    ),
    ...optional(wire['retrieved_documents'], 'documents', (list) =>
      listOf(list, `${path}.retrieved_documents`, document),
    ),
  }
}

/** The context that a caller passes with a task. */
export const readGivenContext = (
  value: unknown,
): Pick<ExecutionContext, 'projectId' | 'conversation' | 'documents'> => {
  const {
    run: _,
    step: __,
    traceparent: ___,
    attempt: ____,
    effectKey: _____,
    resumeToken: ______,
    ...given
  } = readContext(jsonOf(value))
  return given
}

/** The first attempt of a task without a key is written as the contract's plain envelope. */
const writeContext = (context: ExecutionContext): Json => ({
  ...given('project_id', context.projectId),
  ...given(
    'conversation_snippet',
    context.conversation?.map(({ role, content }) => ({ role, content })),
  ),
  ...given(
    'retrieved_documents',
    context.documents?.map(({ title, snippet }) => ({ title, snippet })),
  ),
  ...(context.attempt === 1 && context.effectKey === undefined ? {} : { attempt: context.attempt }),
  ...given('effect_key', context.effectKey),
  ...given('resume_token', context.resumeToken),
})

const readConstraints = (value: Json | undefined): Constraints => {
  const path = 'constraints'
  const wire = membersOf(value, path, ['max_tokens', 'temperature', 'allowed_models', 'timeout_ms'])
  return {
    timeoutMs:
      wire['timeout_ms'] === undefined ? DEFAULT_TIMEOUT_MS : wholeOf(wire['timeout_ms'], `${path}.timeout_ms`, 1),
    ...optional(wire['max_tokens'], 'maxTokens', (most) => wholeOf(most, `${path}.max_tokens`, 1)),
    ...optional(wire['temperature'], 'temperature', (heat) =>
      numberOf(heat, `${path}.temperature`, { min: 0, max: 2 }),
    ),
    ...optional(wire['allowed_models'], 'allowedModels', (list) => listOf(list, `${path}.allowed_models`, textOf)),
  }
}

const writeConstraints = ({ timeoutMs, maxTokens, temperature, allowedModels }: Constraints): Json => ({
  ...given('max_tokens', maxTokens),
  ...given('temperature', temperature),
  ...given('allowed_models', allowedModels),
  timeout_ms: timeoutMs,
})

const readTask = (value: Json | undefined): Envelope['task'] => {
  const { task_type: type, ...input } = membersOf(value, 'task', null)
  return { type: textOf(type, 'task.task_type'), input, call: null }
}

const writeTask = ({ type, input }: Envelope['task']): Json => ({
  task_type: type,
  ...(input !== null && typeof input === 'object' && !Array.isArray(input) ? (input as Members) : { input }),
})

const checkVersion = (contract: Json | undefined): void => {
  if (contract === undefined) return
  if (textOf(contract, 'contract').split('.')[0] !== CONTRACT)
    throw refuse('contract', `is ${JSON.stringify(contract)}; this process supports ${CONTRACT}`)
}

const ENVELOPE_KEYS = ['task_id', 'executor_type', 'task', 'execution_context', 'constraints', 'contract']

/** Throws ENVELOPE_INVALID with the path of what does not fit. */
export const readEnvelope = (value: unknown): Envelope => {
  const wire = membersOf(jsonOf(value), '', ENVELOPE_KEYS)
  checkVersion(wire['contract'])
  const taskId = textOf(wire['task_id'], 'task_id')
  if (!isPlainText(taskId, MAX_ID_LENGTH)) throw refuse('task_id', `must be a plain text of at most ${MAX_ID_LENGTH}`)
  const executorType = textOf(wire['executor_type'], 'executor_type')
  if (!TYPE.test(executorType)) throw refuse('executor_type', `"${executorType.slice(0, 64)}" is not a type`)
  return {
    taskId,
    executorType,
    task: readTask(wire['task']),
    context: readContext(wire['execution_context']),
    constraints: readConstraints(wire['constraints']),
  }
}

export const writeEnvelope = ({ taskId, executorType, task, context, constraints }: Envelope): Json => ({
  task_id: taskId,
  executor_type: executorType,
  task: writeTask(task),
  execution_context: writeContext(context),
  constraints: writeConstraints(constraints),
})

const jsonOf = (value: unknown): Json => {
  try {
    return toJson(value)
  } catch (error) {
    throw error instanceof TrihandError ? refuse('', `is not JSON: ${error.detail}`) : error
  }
}

// -- result -----------------------------------------------------------------------------------------------------------

const readUsage = (value: Json): Usage => {
  const path = 'usage'
  const wire = membersOf(value, path, ['tokens_input', 'tokens_output', 'total_tokens', 'estimated_cost'])
  const cost = wire['estimated_cost']
  return {
    tokensInput: wholeOf(wire['tokens_input'], `${path}.tokens_input`, 0),
    tokensOutput: wholeOf(wire['tokens_output'], `${path}.tokens_output`, 0),
    totalTokens: wholeOf(wire['total_tokens'], `${path}.total_tokens`, 0),
    estimatedCost:
      cost === undefined || cost === null
        ? null
        : numberOf(cost, `${path}.estimated_cost`, { min: 0, max: Number.MAX_SAFE_INTEGER }),
  }
}

const writeUsage = ({ tokensInput, tokensOutput, totalTokens, estimatedCost }: Usage): Json => ({
  tokens_input: tokensInput,
  tokens_output: tokensOutput,
  total_tokens: totalTokens,
  estimated_cost: estimatedCost,
})

const readPaid = (wire: Members): Pick<ExecutorResult, 'usage' | 'modelUsed'> => ({
  ...optional(wire['usage'], 'usage', readUsage),
  ...optional(wire['model_used'], 'modelUsed', (model) => textOf(model, 'model_used')),
})

/** We decide whether it is worth another attempt: by the error table, and yes for an unknown code. */
const readError = (value: Json | undefined): Extract<ExecutorResult, { readonly status: 'failed' }>['error'] => {
  const wire = membersOf(value, 'error', ['code', 'message'])
  const code = textOf(wire['code'], 'error.code')
  const message = wire['message']
  if (typeof message !== 'string') throw refuse('error.message', 'must be a text')
  return { code, message, retryable: isErrorCode(code) ? ERRORS[code].retryable : true, definite: false }
}

const RESULT_KEYS = ['status', 'result', 'usage', 'model_used', 'error', 'resume_token']

const readAnswer = (value: unknown): ExecutorResult => {
  const wire = membersOf(jsonOf(value), '', RESULT_KEYS)
  const { status, result, error } = wire
  switch (status) {
    case 'failed':
      return { status, error: readError(error), ...readPaid(wire) }
    case 'success':
    case 'partial':
      if (result === undefined) throw refuse('result', `is missing: a ${status} result has one`)
      if (error !== undefined) throw refuse('error', `is not allowed in a ${status} result`)
      return {
        status,
        result,
        ...readPaid(wire),
        ...optional(wire['resume_token'], 'resumeToken', (token) => textOf(token, 'resume_token')),
      }
    default:
      throw refuse('status', 'must be success, failed or partial')
  }
}

/** Never throws: a malformed answer is a failure of its executor. */
export const readResult = (value: unknown): ExecutorResult => {
  try {
    return readAnswer(value)
  } catch (error) {
    const message = error instanceof TrihandError ? error.detail.replace('the envelope', 'the answer') : String(error)
    return { status: 'failed', error: { code: 'EXECUTOR_FAILED', message, retryable: true, definite: false } }
  }
}

export const writeResult = (answer: ExecutorResult): Json => {
  const paid = {
    ...given('usage', answer.usage === undefined ? undefined : writeUsage(answer.usage)),
    ...given('model_used', answer.modelUsed),
  }
  if (answer.status === 'failed') {
    const { code, message } = answer.error
    return { status: 'failed', error: { code, message }, ...paid }
  }
  return {
    status: answer.status,
    result: toJson(answer.result),
    ...paid,
    ...given('resume_token', answer.resumeToken),
  }
}

// -- in this process --------------------------------------------------------------------------------------------------

type WireContext = { readonly [key: string]: Json | undefined }

/** The envelope with its wire names in addition to ours, for code that was written to the contract. */
export interface ContractEnvelope extends Envelope {
  readonly task_id: string
  readonly executor_type: string
  readonly task: Envelope['task'] & { readonly task_type: string; readonly [key: string]: unknown }
  readonly execution_context: WireContext
  readonly constraints: Constraints & WireConstraints
}

/** A result in either spelling. */
export interface ContractResult {
  readonly status: 'success' | 'failed' | 'partial'
  readonly result?: unknown
  readonly usage?: unknown
  readonly model_used?: string
  readonly error?: { readonly code: string; readonly message: string }
  readonly resume_token?: string
}

export type ContractExecute = (
  envelope: ContractEnvelope,
  abort: Abort,
) => ExecutorResult | ContractResult | Promise<ExecutorResult | ContractResult>

/** The wire names read our values and are not enumerable: a copy or a print of an envelope shows only our names. */
const beside = <Ours extends object>(ours: Ours, wire: object): Ours => {
  const names = Object.entries(wire).filter(([name]) => !Object.hasOwn(ours, name))
  return Object.defineProperties(
    { ...ours },
    Object.fromEntries(names.map(([name, value]) => [name, { value, enumerable: false }])),
  )
}

const withWireNames = (envelope: Envelope): ContractEnvelope => {
  const { task, constraints, ...wire } = writeEnvelope(envelope) as {
    readonly task: object
    readonly constraints: object
  }
  const ours = {
    ...envelope,
    task: beside(envelope.task, task),
    constraints: beside(envelope.constraints, constraints),
  }
  return beside(ours, wire) as ContractEnvelope
}

const isWireUsage = (usage: unknown): boolean =>
  typeof usage === 'object' && usage !== null && !('tokensInput' in usage)

/** A failure in our spelling says whether it can be retried; the contract leaves that to us. */
const isOurs = (answer: ExecutorResult | ContractResult): answer is ExecutorResult => {
  if ('model_used' in answer || 'resume_token' in answer || isWireUsage(answer.usage)) return false
  return answer.status !== 'failed' || (answer.error !== undefined && 'retryable' in answer.error)
}

const STATUSES: ReadonlySet<unknown> = new Set(['success', 'partial', 'failed'])

const understood = (answer: ExecutorResult | ContractResult): ExecutorResult =>
  !STATUSES.has(answer?.status) || isOurs(answer) ? (answer as ExecutorResult) : readResult(answer)

/** An executor in this process that may use the contract's names, as over HTTP. */
export const contractExecutor =
  (execute: ContractExecute): Executor['execute'] =>
  (envelope, abort) => {
    const answer = execute(withWireNames(envelope), abort)
    return answer instanceof Promise ? answer.then(understood) : understood(answer)
  }
