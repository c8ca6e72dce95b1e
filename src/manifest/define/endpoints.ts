/**
 * Outgoing webhook endpoints that are notified of events, as their author declares them.
 *
 * Owns every refusal at definition time. Keeps addresses and secrets as they were written, mostly as references; never reads an
 * environment and sends nothing (executors/workflow/notices.ts).
 */
import { isEventType } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { checkName, invalid } from './invalid.ts'

export interface EndpointSource {
  readonly name: string
  /** May be a reference: `${BOOKS_URL}`. */
  readonly url: string
  /** Types of events, including lifecycle events of the system. */
  readonly events: readonly string[]
  /** Standard Webhooks, mostly a reference. Several secrets all sign, so that one can be replaced. Absent: nothing is signed. */
  readonly secret?: string | readonly string[]
}

export interface EndpointDefinition {
  readonly name: string
  readonly url: string
  readonly events: readonly string[]
  readonly secrets: readonly string[]
}

const REFERENCE = '${'
/** Leaves room for the prefix in the name of its function. */
const MAX_NAME = 48

const checkUrl = (url: string, path: string): void => {
  if (url.includes(REFERENCE)) return
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw invalid(path, `"${url}" is not an address like https://books.example/in`)
}

const defineEndpoint = ({ name, url, events, secret = [] }: EndpointSource): EndpointDefinition => {
  const path = `endpoints.${name}`
  checkName(name, path)
  if (name.length > MAX_NAME) throw invalid(path, `the name of an endpoint must have at most ${MAX_NAME} characters`)
  checkUrl(url, `${path}.url`)
  if (events.length === 0) throw invalid(`${path}.events`, 'an endpoint needs at least one event type')
  const odd = events.find((type) => !isEventType(type))
  if (odd !== undefined) throw invalid(`${path}.events`, `"${odd}" is not an event type`)
  return { name, url, events: [...new Set(events)], secrets: typeof secret === 'string' ? [secret] : secret }
}

export const defineEndpoints = (sources: readonly EndpointSource[]): ReadonlyMap<string, EndpointDefinition> => {
  const endpoints = new Map<string, EndpointDefinition>()
  for (const source of sources) {
    if (endpoints.has(source.name))
      throw new TrihandError('MANIFEST_DUPLICATE_NAME', `two endpoints are named ${source.name}`)
    endpoints.set(source.name, defineEndpoint(source))
  }
  return endpoints
}
