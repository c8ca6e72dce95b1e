/**
 * The calls that code in another process may make on its steps: each message becomes the call that code in this process would make.
 *
 * Owns which options are passed on: those that authors have, and none that are internal to our own programs.
 */
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { Call } from '#ports/code-process.ts'
import type { StepContext } from '#ports/step-port.ts'
import type { Step } from './step-api.ts'

type Body = (context: StepContext) => Promise<unknown>
type Options = { readonly [name: string]: Json }

export interface Asked {
  readonly step: Step
  readonly call: Call
  readonly name: string
  readonly options: Options
  /** The code of the step, or of its fallback. */
  readonly body: (step: string, fallback: boolean) => Body
}

const only = (given: Json | undefined, ...keys: readonly string[]): never => {
  const options = isJsonRecord(given) ? given : {}
  return Object.fromEntries(
    keys.filter((key) => Object.hasOwn(options, key)).map((key) => [key, options[key]]),
  ) as never
}

const eventOf = (given: Json): never => only(given, 'type', 'data', 'subject', 'delay')

export const questions: { readonly [op: string]: (asked: Asked) => Promise<unknown> } = {
  run: ({ step, call, name, options, body }) => {
    const key = String(call['step'])
    const said = only(options, 'key', 'effect', 'retry', 'timeout', 'input', 'target') as object
    const main = body(key, false)
    return step.run(name, main, call['fallback'] === true ? { ...said, fallback: body(key, true) } : said)
  },
  execute: ({ step, name, options }) => {
    const { execute } = step
    return execute(
      name,
      only(options, 'key', 'type', 'task', 'context', 'constraints', 'models', 'onPartial', 'effect', 'retry'),
    )
  },
  sleep: ({ step, call, name, options }) => step.sleep(name, call['duration'] as string, only(options, 'key')),
  sleepUntil: ({ step, call, name, options }) => step.sleepUntil(name, Number(call['instant']), only(options, 'key')),
  waitForEvent: ({ step, name, options }) =>
    step.waitForEvent(
      name,
      only(options, 'key', 'event', 'anyOf', 'allOf', 'match', 'if', 'timeout', 'lookback', 'take', 'max'),
    ),
  invoke: ({ step, call, name, options }) =>
    step.invoke(name, String(call['handler']), call['input'], only(options, 'key', 'onParentEnd', 'gate')),
  human: ({ step, call, name, options }) =>
    step.human(name, call['task'] as never, only(options, 'key', 'revises', 'requester')),
  emit: ({ step, call, name, options }) => {
    const { events } = call
    return step.emit(name, Array.isArray(events) ? events.map(eventOf) : eventOf(events ?? null), only(options, 'key'))
  },
  fetch: ({ step, call, name, options }) =>
    step.fetch(
      name,
      String(call['url']),
      only(options, 'key', 'effect', 'retry', 'timeout', 'target', 'method', 'headers', 'body', 'json'),
    ),
  secret: ({ step, name }) => step.secret(name),
}
