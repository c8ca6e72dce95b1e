/**
 * A queue and the handler that processes it, as an author writes them.
 *
 * Owns only the options. manifest/flow/queues.ts makes the normal form, with defaults and refusals.
 */
import type { QUEUE_FULLS } from './queue-fact.ts'

/** A bounded message queue: `{ name: 'mails', maxLength: 500 }`. */
export interface QueueSource {
  /** The name under which messages are sent to it and a handler names it as its `source`. */
  readonly name: string
  /** The most messages that may wait. Default: 10,000. */
  readonly maxLength?: number
  /** What happens to a message for which there is no room. Default: `reject`. */
  readonly onFull?: (typeof QUEUE_FULLS)[number]
  /** Visibility timeout, a duration: the run is cancelled after it and its messages are redelivered. Default: `60s`. */
  readonly visibility?: string | number
  /** In how many runs a message may be delivered before it is given up. Default: 5. */
  readonly maxAttempts?: number
}

/** The queue that a handler processes: `{ queue: 'mails', batch: 25 }`. */
export interface QueueReading {
  /** The name of the queue. */
  readonly queue: string
  /** How many messages one run receives at most. Default: 10. */
  readonly batch?: number
}
