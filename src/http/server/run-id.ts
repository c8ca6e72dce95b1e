/**
 * Run ids as people write them: whole, with dashes, without the prefix, or only their last digits.
 *
 * Owns the parsing of ids. Short ids are the last digits, because runs that were started together share their first ones.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import { type RunId, runId } from '#model/kernel/ids.ts'
import type { RunSummary } from '#ports/reader.ts'
import type { Service } from './service.ts'

/** The service whose runs are searched. */
type Owner = Pick<Service, 'reader' | 'tenant' | 'queued'>

const DIGITS = /^[0-9a-f]+$/
const WHOLE = 32
const SHORTEST = 6
const SHOWN = 8

const notFound = (detail: string): TrihandError => new TrihandError('NOT_FOUND', detail)

/** The 32 digits of a whole id, or fewer. Null if the text is not an id. */
const digitsOf = (text: string): string | null => {
  const digits = text.toLowerCase().replace(/^run_/, '').replaceAll('-', '')
  return DIGITS.test(digits) && digits.length <= WHOLE ? digits : null
}

/** Finds the run that the text names. */
export const findRun = async (service: Owner, text: string): Promise<RunSummary> => {
  const digits = digitsOf(text)
  if (digits === null) throw notFound(`"${text}" is not the id of a run`)
  const id = digits.length === WHOLE ? runId(digits) : await byLastDigits(service, digits)
  const run = (await service.reader.run(service.tenant, id)) ?? (await promised(service, id))
  if (run === null) throw notFound(`there is no run ${id}`)
  return run
}

/** A run that waits in its handler's queue has no facts yet, and is shown all the same: its id was given to a caller. */
const promised = async (service: Owner, id: RunId): Promise<RunSummary | null> => {
  const queued = await service.queued(id)
  // It may have begun between the two reads.
  if (queued === null) return service.reader.run(service.tenant, id)
  const [status, createdAt] =
    queued.state === 'queued' ? (['queued', queued.since] as const) : (['cancelled', 0] as const)
  const none = { session: null, parent: null, event: null, wakeAt: null, leased: false }
  return { id, handler: queued.handler, status, version: 0, createdAt, ...none }
}

const byLastDigits = async ({ reader, tenant }: Owner, digits: string): Promise<RunId> => {
  if (digits.length < SHORTEST)
    throw notFound(`"${digits}" is too short; give at least the last ${SHORTEST} digits of the id`)
  const [found, another] = await reader.runsEndingWith(tenant, digits)
  if (found === undefined) throw notFound(`there is no run that ends with ${digits}`)
  if (another !== undefined)
    throw new TrihandError('ID_AMBIGUOUS', `several runs end with ${digits}, among them ${found} and ${another}`)
  return found
}

export const shortId = (id: RunId): string => `run_${id.slice(-SHOWN)}`
