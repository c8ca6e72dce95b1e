/**
 * Brings queues from what an author writes to the normal form: their capacity, and the handler that processes them.
 *
 * Owns defaults and refusals. A queue has one handler, and a handler one queue.
 */
import { durationWithin, invalidAt, oneOf, wholeNumber } from '#manifest/expressions/ranges.ts'
import { DEFAULT_RETRY } from '#model/flow/policies/retry.ts'
import { QUEUE_FULLS, type QueuePolicy } from '#model/flow/queue-fact.ts'
import type { QueueReading, QueueSource } from '#model/flow/queue-source.ts'
import { TrihandError } from '#model/kernel/errors.ts'

export interface QueueDefinition {
  readonly name: string
  readonly visibilityMs: number
  readonly policy: QueuePolicy
  /** Null: no handler processes it, and it fills up. */
  readonly handler: string | null
}

/** What a queue needs to know about a handler. */
interface Reading {
  readonly name: string
  readonly options: {
    readonly source?: QueueReading
    readonly concurrency?:
      | number
      | readonly { readonly limit: number; readonly key?: string; readonly scope?: string }[]
  }
}

const DEFAULT_VISIBILITY = '60s'
const NAME = /^[a-z][a-z0-9_-]{0,63}$/

const cyclesOf = ({ options: { concurrency } }: Reading): number => {
  if (typeof concurrency === 'number') return concurrency
  const own = concurrency?.find(({ key, scope = 'handler' }) => key === undefined && scope === 'handler')
  return own?.limit ?? 1
}

/** Only the queue starts its runs, so options that would hold back events of the handler have no effect. */
const GATED = ['idempotency', 'rateLimit', 'debounce', 'batch', 'overlap', 'throttle', 'fanIn'] as const

const checkReader = ({ name, options }: Reading): void => {
  const gated = GATED.find((option) => Object.hasOwn(options, option))
  if (gated !== undefined)
    throw new TrihandError(
      'POLICY_CONFLICT',
      `functions.${name}: ${gated} works for events only; a queue has its own order`,
    )
}

const defineQueue = (source: QueueSource, readers: readonly Reading[]): QueueDefinition => {
  const { name, maxLength = 10_000, onFull = 'reject', visibility = DEFAULT_VISIBILITY, maxAttempts = 5 } = source
  const path = `queues.${name}`
  if (!NAME.test(name)) throw invalidAt(path, 'a name must begin with a letter and have at most 64 of a-z 0-9 _ -')
  const [reader, other] = readers.filter(({ options }) => options.source?.queue === name)
  if (other !== undefined)
    throw new TrihandError(
      'POLICY_CONFLICT',
      `${path}: both ${reader?.name} and ${other.name} process it; only one function can`,
    )
  if (reader !== undefined) checkReader(reader)
  const batch = wholeNumber(`functions.${reader?.name}.source.batch`, reader?.options.source?.batch ?? 10, {
    min: 1,
    max: 1_000,
  })
  const policy: QueuePolicy = {
    maxLength: wholeNumber(`${path}.maxLength`, maxLength, { min: 1, max: 1_000_000 }),
    onFull: oneOf(`${path}.onFull`, onFull, QUEUE_FULLS),
    maxAttempts: wholeNumber(`${path}.maxAttempts`, maxAttempts, { min: 1, max: 1_000 }),
    retry: DEFAULT_RETRY,
    batch,
    cycles: reader === undefined ? 0 : cyclesOf(reader),
  }
  const visibilityMs = durationWithin(`${path}.visibility`, visibility, { min: '1s', max: '7d' })
  return { name, visibilityMs, policy, handler: reader?.name ?? null }
}

export const defineQueues = (
  sources: readonly QueueSource[],
  handlers: readonly Reading[],
): ReadonlyMap<string, QueueDefinition> => {
  const queues = new Map<string, QueueDefinition>()
  for (const source of sources) {
    if (queues.has(source.name))
      throw new TrihandError('MANIFEST_DUPLICATE_NAME', `two queues are named ${source.name}`)
    queues.set(source.name, defineQueue(source, handlers))
  }
  for (const { name, options } of handlers)
    if (options.source !== undefined && !queues.has(options.source.queue))
      throw invalidAt(`functions.${name}.source.queue`, `there is no queue ${JSON.stringify(options.source.queue)}`)
  return queues
}

/** What a handler's runs take from its queue: the time limit, and retries only if the author sets some in addition to the queue's. */
export const asReader = <Options extends { readonly source?: QueueReading; readonly deadline?: object }>(
  options: Options,
  sources: readonly QueueSource[],
): Options => {
  const queue = sources.find(({ name }) => name === options.source?.queue)
  if (queue === undefined) return options
  const finish = queue.visibility ?? DEFAULT_VISIBILITY
  return { retry: { maxAttempts: 1 }, ...options, deadline: { ...options.deadline, finish } }
}

/** The type of a queue's messages, which are events. */
export const messageType = (queue: string): string => `trihand.queue.${queue}`
export const DEAD_MESSAGE = 'trihand.queue.dead'
/** The source of its messages, and the name under which workers know it. No handler can have this name. */
export const queueSource = (queue: string): string => `queue:${queue}`
