/**
 * `llm`: one call of a language model, text or JSON.
 *
 * Owns how a task becomes a request: the prompt is unchanged, all other members are added as fenced data. Never retries and never
 * chooses another model: the engine does.
 */
import { jsonIn } from '#model/agent/answer-json.ts'
import { DATA_RULE, dataBlock } from '#model/agent/messages.ts'
import type { Usage } from '#model/agent/usage.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Envelope, Executor, ExecutorResult } from '#ports/executor.ts'
import type { Message, Model, ModelAnswer, ModelFailure, ModelName, ModelUsage } from '#ports/model.ts'
import { answered, failedWith, type Members, membersOf, membersOr, textAt, textOr } from './task-input.ts'

export interface LlmDeps {
  readonly model: Model
  /** The model behind a name of the system, or behind an id. */
  nameOf(name: string): ModelName
  readonly defaultModel: () => string
  /** Issues, each with its path; empty if the value fits. */
  check(schema: Json, value: Json): readonly string[]
  digest(text: string): string
}

const DEFAULT_TOKENS = 4_096
const MARK_LENGTH = 12
const MAX_ISSUES = 5

const written = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The context of the task as data blocks, each with a delimiter that its content cannot know. */
const dataOf = ({ taskId, context }: Envelope, task: Members, digest: LlmDeps['digest']): readonly string[] => {
  const documents = (context.documents ?? []).map(({ title, snippet }) => [title, snippet] as const)
  const variables = Object.entries(membersOr(task, 'input_variables')).map(
    ([name, value]) => [name, written(value)] as const,
  )
  return [...documents, ...variables].map(([source, text], i) =>
    dataBlock(digest(`${taskId}\n${i}`).slice(0, MARK_LENGTH), source, text),
  )
}

const messagesOf = (envelope: Envelope, task: Members, digest: LlmDeps['digest']): readonly Message[] => {
  const said = (envelope.context.conversation ?? []).map(({ role, content }): Message => {
    return { role: role === 'assistant' ? 'assistant' : 'user', parts: [{ type: 'text', text: content }] }
  })
  const text = [textAt(task, 'prompt'), ...dataOf(envelope, task, digest)].join('\n\n')
  return [...said, { role: 'user', parts: [{ type: 'text', text }] }]
}

export const reported = (usage: ModelUsage | null): { readonly usage?: Usage } =>
  usage === null
    ? {}
    : {
        usage: {
          tokensInput: usage.input,
          tokensOutput: usage.output,
          totalTokens: usage.input + usage.output,
          estimatedCost: usage.costUsd ?? null,
          cachedInput: usage.cachedInput,
          cacheWrites: usage.cacheWrites,
        },
      }

const textOf = ({ parts }: ModelAnswer): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')

/** An answer that does not fit is a failure with its reason; the caller may ask for a repair. */
export const structured = (
  reply: ModelAnswer,
  schema: Json,
  check: LlmDeps['check'],
): { readonly value: Json } | { readonly problem: string } => {
  const text = textOf(reply)
  if (reply.finish === 'length') return { problem: 'cut off at max_tokens' }
  const found = jsonIn(text)
  if (found === null) return { problem: `not JSON: ${text.slice(0, 200)}` }
  const issues = check(schema, found.value)
  return issues.length === 0 ? found : { problem: issues.slice(0, MAX_ISSUES).join('; ') }
}

const answer = (reply: ModelAnswer, task: Members, deps: LlmDeps): ExecutorResult => {
  const paid = { ...reported(reply.usage), modelUsed: reply.modelUsed }
  const schema = task['output_schema'] ?? null
  if (reply.finish === 'filtered')
    return { ...failedWith('MODEL_FILTERED', 'the provider withheld the answer'), ...paid }
  if (schema !== null) {
    const found = structured(reply, schema, deps.check)
    return 'value' in found
      ? { status: 'success', result: { content: found.value, format: 'json' }, ...paid }
      : { ...failedWith('OUTPUT_INVALID', found.problem), ...paid }
  }
  const status = reply.finish === 'length' ? 'partial' : 'success'
  return { status, result: { content: textOf(reply), format: textOr(task, 'format', 'text') }, ...paid }
}

/** Text that arrived before the timeout is kept. */
const failure = ({ code, detail, retryAfterMs, usage, text }: ModelFailure, modelUsed: string): ExecutorResult => {
  if (code === 'MODEL_TIMEOUT' && text !== null && text !== '')
    return { status: 'partial', result: { content: text, format: 'text' }, ...reported(usage), modelUsed }
  const { retryable } = new TrihandError(code, detail)
  const wait = retryAfterMs === null ? {} : { retryAfterMs }
  return {
    status: 'failed',
    error: { code, message: detail, retryable, definite: true, ...wait },
    ...(usage === null ? {} : { ...reported(usage), modelUsed }),
  }
}

export const modelOf = (task: Members, { defaultModel, nameOf }: Pick<LlmDeps, 'defaultModel' | 'nameOf'>): ModelName =>
  nameOf(textOr(task, 'model', defaultModel()))

export const llm = (deps: LlmDeps): Executor => ({
  execute: (envelope, abort) =>
    answered(async () => {
      const task = membersOf(envelope.task.input)
      const { constraints, context } = envelope
      const model = modelOf(task, deps)
      const request = {
        purpose: textOr(task, 'purpose', `task:${envelope.task.type}`),
        model,
        system: [textOr(task, 'system', ''), DATA_RULE].filter(Boolean).join('\n\n'),
        messages: messagesOf(envelope, task, deps.digest),
        tools: [],
        output: task['output_schema'] ?? null,
        maxOutputTokens: constraints.maxTokens ?? DEFAULT_TOKENS,
        temperature: constraints.temperature ?? null,
        attempt: context.attempt,
      }
      const reply = await deps.model.call(request, abort.signal)
      return reply.kind === 'reply' ? answer(reply, task, deps) : failure(reply, model.id)
    }),
})
