/** Schemas of events, receipts and triggers on the wire. */
import {
  anything,
  closed,
  described,
  instant,
  list,
  orNull,
  record,
  ref,
  text,
  whole,
  words,
  yesNo,
} from '#http/openapi/schema.ts'

export const eventComponents = {
  StoredEvent: record({
    sequence: described('its place in the ledger', whole),
    id: text,
    source: text,
    type: text,
    subject: orNull(text),
    time: instant,
    data: anything,
    correlation_id: text,
    causation_id: orNull(text),
    hops: whole,
  }),
  DelayedEvent: record({
    id: described('of the run that will send it', text),
    type: text,
    subject: orNull(text),
    data: anything,
    due_at: described('null: its time has come', orNull(instant)),
    created_at: instant,
  }),
  EventCause: record({
    kind: words(['event', 'run', 'task', 'schedule']),
    id: text,
    name: described('the type of an event, the handler of a run, the title of a task', text),
    sequence: described('of an event', orNull(whole)),
  }),
  EventDetail: record({
    event: ref('StoredEvent'),
    causes: described('what led to it, the nearest first', list(ref('EventCause'))),
    runs: described('that it started by itself', list(ref('Run'))),
    events: described('that those runs have sent', list(ref('StoredEvent'))),
    pending: described('handlers whose flow control has not decided yet', list(text)),
    suppressed: described(
      'handlers that listen to this event and started no run of their own',
      list(ref('Suppression')),
    ),
  }),
  Suppression: record({
    trigger: text,
    reason: words([
      ...[
        'filter',
        'error',
        'hop_limit',
        'reentry',
        'duplicate',
        'paused',
        'rate_limit',
        'debounced',
        'overlap',
        'fan_in',
      ],
      ...['cancelled', 'joined'],
    ]),
    detail: text,
    run: described('that took the event in, or stood in its way', orNull(text)),
  }),
  Receipt: record(
    {
      id: text,
      sequence: described('its place in the ledger; 0: it is to be sent later', whole),
      runs: described('that it started', list(text)),
      pending: described('handlers whose flow control decides later; GET /api/events/{id} tells', list(text)),
      duplicate: described('the event was there already; id, sequence and runs are those of the first answer', yesNo),
      suppressed: described('who listens to this event and was not started', list(ref('Suppression'))),
    },
    {
      due_at: described(
        'of an event with a delay: when it is sent; until then `id` is that of the run that will send it',
        instant,
      ),
    },
  ),
  CloudEvent: record(
    { specversion: words(['1.0']), id: text, source: text, type: text },
    {
      subject: text,
      time: instant,
      datacontenttype: text,
      dataschema: text,
      data: anything,
      data_base64: text,
      traceparent: text,
    },
  ),
  EventVerdict: record({ status: whole }, { receipt: ref('Receipt'), problem: ref('Problem') }),
  Trigger: record({
    kind: words(['event', 'after', 'signal', 'file', 'table', 'condition', 'webhook']),
    name: described('what it watches: an event type, a path, an expression', text),
    handler: described('who starts; null for a webhook, which sends an event', orNull(text)),
    event: text,
    filter: orNull(text),
  }),
  DeadLetter: record({
    webhook: text,
    delivery: described('its id: what a replay names', text),
    received_at: instant,
    media: described('the type of its body', text),
    body: described('the first 2,000 characters', text),
    code: described('why it made no event; null: nobody knows any more', orNull(text)),
    detail: orNull(text),
  }),
  Rehearsal: record({
    event: record({ type: text, data: anything }),
    starts: list(text),
    suppressed: list(
      record({ trigger: text, reason: words(['filter', 'error', 'hop_limit', 'reentry']), detail: text }),
    ),
  }),
}

export const SEND_EVENT = closed(
  { type: text },
  {
    data: anything,
    id: text,
    source: text,
    subject: text,
    time: instant,
    delay: described(
      'like 30s or 2h: it is sent so long after it was accepted; then without id, source and time',
      text,
    ),
  },
)
export const REHEARSE = closed({ name: text }, { data: anything, source: text })
export const REPLAY = closed({ delivery: text })
