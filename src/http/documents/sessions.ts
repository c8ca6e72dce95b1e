/** Schemas of sessions on the wire. */
import {
  anything,
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

const session = {
  id: text,
  forked_from: orNull(text),
  version: whole,
  created_at: instant,
}

export const sessionComponents = {
  Session: record(session),
  SessionMemory: record({
    key: text,
    value: described('null where it is too large to show', anything),
    bytes: described('of what is too large to show', orNull(whole)),
    is_changed: described('since the last checkpoint', yesNo),
  }),
  SessionDetail: record({
    ...session,
    status: words(['live', 'ended']),
    mode: text,
    head: described('its last checkpoint', orNull(text)),
    memory: list(ref('SessionMemory')),
    forks: list(ref('Session')),
  }),
  SessionDifference: record({
    a: text,
    b: text,
    items: described(
      'keys that differ; a side that is null has not the key',
      list(record({ key: text, before: orNull(ref('RememberedValue')), after: orNull(ref('RememberedValue')) })),
    ),
  }),
  RememberedValue: record({
    value: described('null where it is too large to show', anything),
    bytes: described('of what is too large to show', orNull(whole)),
  }),
  Checkpoint: record({
    seq: whole,
    kind: words(['created', 'checkpoint', 'ended']),
    id: orNull(text),
    parents: list(text),
    root: orNull(text),
    mode: orNull(text),
    at: instant,
    changes: described('of the memory, since the one before', whole),
  }),
}
