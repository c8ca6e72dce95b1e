/** Schemas of runs and their facts on the wire. */
import {
  anything,
  closed,
  described,
  instant,
  list,
  mapOf,
  orNull,
  page,
  record,
  ref,
  text,
  whole,
  words,
  yesNo,
} from '#http/openapi/schema.ts'
import { RUN_STATUSES } from '#model/run/status.ts'
import { ANSWER } from './tasks.ts'

/** `session` marks a session's stream and is not a status of a run. */
export const STATUSES = RUN_STATUSES.filter((status) => status !== 'session')
export const VERDICTS = ['happened', 'run_again', 'abort'] as const

const run = {
  id: text,
  handler: text,
  status: ref('RunStatus'),
  session_id: orNull(text),
  parent_id: orNull(text),
  event: described('sequence of the event that started it', orNull(whole)),
  version: described('how many facts it has', whole),
  wake_at: orNull(instant),
  created_at: instant,
}

export const runComponents = {
  RunStatus: words(STATUSES),
  Run: record(run),
  Fact: record({
    seq: whole,
    type: text,
    at: instant,
    step: orNull(text),
    text: described('the fact in plain words', text),
    body: described("as it is stored, in the ledger's own spelling", mapOf(anything)),
  }),
  WaitingOn: record(
    { kind: text, step: orNull(text), until: orNull(instant), text },
    { task: described('where an uncertain step is answered', orNull(text)) },
  ),
  SkippedStep: record({
    step: text,
    because: described('the step that people did not approve; null: another reason', orNull(text)),
    reason: orNull(text),
  }),
  RunWhy: record({
    id: text,
    status: ref('RunStatus'),
    text: described('one sentence', text),
    waiting_on: list(ref('WaitingOn')),
    skipped: described('steps of a plan that were not done', list(ref('SkippedStep'))),
  }),
  OpenRun: record({
    id: text,
    handler: text,
    status: ref('RunStatus'),
    version: described('of the code that it is pinned to', text),
    unreadable: described('why nothing else can be read of it; null: everything can', orNull(text)),
    input: anything,
    attempt: whole,
    event: described('that started it', orNull(ref('StoredEvent'))),
    events: described('that started it, where they were several', list(ref('StoredEvent'))),
    schedule: described('why and for which slot, if a schedule started it', orNull(mapOf(anything))),
    steps: list(
      record({
        step: text,
        state: words(['done', 'failed', 'received', 'open']),
        once: described('its effect was performed at most once', yesNo),
        value: anything,
        error: orNull(record({ code: text, message: text })),
        events: list(ref('StoredEvent')),
        timed_out: yesNo,
        missing: list(text),
        waits_for: described('the events that an open wait is for', list(text)),
      }),
    ),
  }),
  RunCounts: record({
    ...Object.fromEntries(STATUSES.map((status) => [status, whole])),
    more: described(
      'statuses with more runs than were counted: of these there are at least so many',
      list(ref('RunStatus')),
    ),
  }),
  RunDetail: record({
    ...run,
    why: described('it does not go on, in one sentence', text),
    waiting_on: list(ref('WaitingOn')),
    skipped: described('steps of a plan that were not done', list(ref('SkippedStep'))),
    children: list(ref('Run')),
    output: anything,
    outcome: described('what stands around the output; null: it has not ended well', orNull(ref('Outcome'))),
    error: orNull(record({ code: text, message: text })),
    facts: page(ref('Fact')),
  }),
  RetriedRun: record({
    ...run,
    waits: described('it waits for its turn: its flow control lets it go on', yesNo),
    done: described('steps of the run and of its failed children that are not repeated', list(text)),
  }),
  RerunPreview: record({
    id: text,
    handler: text,
    from: orNull(text),
    input: described('what the old run was given', anything),
    reused: described('steps whose results stand', list(text)),
    again: described(
      'steps that are done again, in the order in which the old run came to them',
      list(
        record({
          step: text,
          once: described('its effect happens once more', yesNo),
          asks: described('it asks people', yesNo),
          reusable: described('reuse_decisions takes over what people answered', yesNo),
        }),
      ),
    ),
  }),
}

/** The same terms as the list of runs takes. */
export const RUN_FILTER = { status: ref('RunStatus'), handler: text, session: described('the id of a session', text) }

export const START_RUN = closed(
  { name: text },
  {
    input: anything,
    callback_url: described('told of its end by one signed webhook', text),
    session: described('the id of the session that it works in', text),
  },
)
export const RERUN_RUN = closed(
  {},
  {
    from: described('the first step that is done again; absent: everything is', text),
    input: described('absent: what the old run was given', anything),
    reuse_decisions: described(
      'what people answered counts again where they were asked before the step `from` began and would be asked the same; with another input they are always asked',
      yesNo,
    ),
  },
)
export const CANCEL_RUN = closed({}, { reason: text })
export const PAUSE_RUN = closed({}, { reason: text })
export const RESOLVE_STEP = closed(
  { step: text, verdict: words(VERDICTS) },
  { result: anything, reason: text, ...ANSWER },
)
