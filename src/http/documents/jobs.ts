/** Schemas of jobs on the wire. */
import {
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
import { BULK_ACTIONS } from '#model/run/bulk.ts'
import { RUN_FILTER } from './runs.ts'

const filter = closed({}, RUN_FILTER)

export const jobComponents = {
  BulkAction: words(BULK_ACTIONS),
  RunFilter: filter,
  Job: record({
    id: described('a run, which is watched, cancelled and retried as any other', text),
    action: ref('BulkAction'),
    where: described('null: the runs were named', orNull(ref('RunFilter'))),
    reason: orNull(text),
    by: text,
    status: ref('RunStatus'),
    total: described('runs that were found so far', whole),
    is_total_known: described('false: it still looks for more', yesNo),
    done: whole,
    failed: whole,
    failures: list(
      record({
        code: text,
        count: whole,
        detail: described('what the first of them was told', text),
        runs: described('the first few of them', list(text)),
      }),
    ),
    created_at: instant,
  }),
}

export const BULK_RUNS = closed(
  { action: ref('BulkAction') },
  {
    where: described('every run that fits and has something to hear; at least one term', ref('RunFilter')),
    ids: described('or these, 1 to 1,000 whole ids', list(text)),
    reason: text,
  },
)
