/** Workers as the wire spells them, described. */
import { described, instant, list, mapOf, orNull, record, ref, text, whole, words } from '../schema.ts'

const worker = {
  id: text,
  name: described('null, as all that a worker of an older version does not tell', orNull(text)),
  status: words(['working', 'draining']),
  pool: orNull(text),
  labels: mapOf(text),
  modules: described('the modules whose functions it may run; null: all', orNull(list(text))),
  slots: orNull(whole),
  leases: whole,
  started_at: orNull(instant),
  beat_at: instant,
}

export const workerComponents = {
  Worker: record(worker),
  WorkerDetail: record({
    ...worker,
    runs: described('what it has the lease of, oldest first, at most 100', list(ref('Run'))),
  }),
}
