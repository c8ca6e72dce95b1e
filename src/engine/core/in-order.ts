/**
 * Writes the events of one batch so that the ledger numbers them in the order of the list: a few in each append, one append after the other.
 *
 * Knows nothing of an event but its identity. An append that the ledger refuses because an event is known already is split, so that
 * the others keep their places.
 *
 * in-order-1  If the ledger knew neither of two events of a batch, the one that is listed first has the lower sequence.
 * in-order-2  Each event gets its own verdict, also one that occurs twice in the batch.
 */
import type { Event } from '#model/event/event.ts'
import { ERRORS, TrihandError } from '#model/kernel/errors.ts'

/** Events in one append: large enough that a batch takes few commits, small enough that no other caller waits long. */
const MOST_TOGETHER = 64
const UNPROCESSED = 500

/** Null: one of several is known already, so nothing was written. */
export type WriteTogether<Verdict> = (events: readonly Event[]) => Promise<readonly Verdict[] | null>

const isVerdict = (error: unknown): error is TrihandError =>
  error instanceof TrihandError && ERRORS[error.code].status < UNPROCESSED

const identityOf = ({ source, id }: Event): string => JSON.stringify([source, id])

/** An identity occurs once in each part: the ledger cannot tell which of two in one append came first. */
const partsOf = (events: readonly Event[]): readonly (readonly Event[])[] => {
  const parts: Event[][] = []
  let part: Event[] = []
  let known = new Set<string>()
  for (const event of events) {
    const identity = identityOf(event)
    if (part.length === MOST_TOGETHER || known.has(identity)) {
      parts.push(part)
      part = []
      known = new Set()
    }
    part.push(event)
    known.add(identity)
  }
  return part.length === 0 ? parts : [...parts, part]
}

const write = async <Verdict>(
  events: readonly Event[],
  together: WriteTogether<Verdict>,
): Promise<readonly (Verdict | TrihandError)[]> => {
  try {
    const verdicts = await together(events)
    if (verdicts !== null) return verdicts
  } catch (error) {
    if (!isVerdict(error)) throw error
    if (events.length === 1) return [error]
  }
  const half = Math.ceil(events.length / 2)
  const first = await write(events.slice(0, half), together)
  return [...first, ...(await write(events.slice(half), together))]
}

/** Events that were refused before keep their places among the verdicts. An error that is no verdict fails the batch: it may be sent again. */
export const writeInOrder = async <Verdict>(
  checked: readonly (Event | TrihandError)[],
  together: WriteTogether<Verdict>,
): Promise<readonly (Verdict | TrihandError)[]> => {
  const verdicts: (Verdict | TrihandError)[] = []
  for (const part of partsOf(checked.filter((one): one is Event => !(one instanceof TrihandError))))
    verdicts.push(...(await write(part, together)))
  const next = verdicts.values()
  return checked.map((one) => (one instanceof TrihandError ? one : (next.next().value as Verdict | TrihandError)))
}
