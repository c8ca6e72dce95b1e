/** Schemas of workers on the wire. */
import {
  closed,
  described,
  instant,
  list,
  mapOf,
  orNull,
  record,
  ref,
  text,
  whole,
  words,
  yesNo,
} from '#http/openapi/schema.ts'

const worker = {
  id: text,
  name: described('null, as all that a worker of an older version does not tell', orNull(text)),
  status: described(
    'paused: it takes nothing new; stopped: it has seen that everything is stopped; draining: it leaves',
    words(['working', 'paused', 'stopped', 'draining']),
  ),
  pool: orNull(text),
  labels: mapOf(text),
  modules: described('the modules whose functions it may run; null: all', orNull(list(text))),
  slots: orNull(whole),
  leases: whole,
  started_at: orNull(instant),
  beat_at: instant,
}

export const STOP = closed({}, { reason: described('why, for whoever reads it', text) })

export const workerComponents = {
  Worker: record(worker),
  WorkerDetail: record({
    ...worker,
    runs: described('what it has the lease of, oldest first, at most 100', list(ref('Run'))),
  }),
  Pool: record({
    name: described(
      'null: workers in no pool, and runs that name none, which any worker takes that fits',
      orNull(text),
    ),
    labels: mapOf(text),
    modules: described('the modules whose functions may run here; null: all', orNull(list(text))),
    min: described('how many workers there should be', whole),
    max: described('how many of its workers take runs; null: all', orNull(whole)),
    workers: described('how many live', whole),
    taking: described('how many of them take runs now', whole),
    capacity: described('how many runs those can hold at once', whole),
    used: described('leases of all its workers', whole),
    queued: described('runs that are due and that nobody has', whole),
    more: described('there are at least so many', yesNo),
    oldest_at: described('since when the first of them has been due', orNull(instant)),
  }),
  Circuit: record({
    key: described('what is called', text),
    status: words(['closed', 'open', 'half_open']),
    until: described('nothing passes before; half open: when the probe is given up', orNull(instant)),
    openings: described('how often it has opened', whole),
    handlers: described(
      'those whose steps it holds back; one that works its key out from data is not named',
      list(text),
    ),
  }),
  Stop: record({
    is_stopped: described('no step begins anywhere', yesNo),
    by: orNull(text),
    reason: orNull(text),
    at: orNull(instant),
  }),
}
