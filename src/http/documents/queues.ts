/** Schemas of queues on the wire. */
import { anything, closed, described, orNull, record, text, whole, words, yesNo } from '#http/openapi/schema.ts'

export const queueComponents = {
  Queue: record({
    name: text,
    handler: described('who works through it; null: nobody', orNull(text)),
    length: described('messages that wait', whole),
    max_length: whole,
    on_full: words(['reject', 'block', 'drop_oldest']),
    in_flight: described('messages that are being worked on', whole),
    dead: described('messages that were given up', whole),
  }),
  QueueReceipt: record({ id: text, sequence: whole, duplicate: yesNo }),
}

export const MESSAGE = closed(
  { data: described('what the message says', anything) },
  { id: described('the same one twice is one message', text) },
)
