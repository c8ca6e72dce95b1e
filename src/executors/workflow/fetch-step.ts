/**
 * One HTTP request as a step: what is sent, and which answers count.
 *
 * Owns both. The way out is handed in, and whoever performs the step retries it.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import { toJson } from '#model/kernel/json.ts'
import type { StepContext } from '#ports/step-gate.ts'
import type { ToolContext } from '#ports/tool.ts'
import type { FetchAnswer, FetchOptions } from './step-api.ts'

interface Asked {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Asked again they change nothing, whatever the other side knows of keys. */
const HARMLESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
const KEY = 'idempotency-key'
/** The other side asks to be called again, or could not answer. */
const isTrouble = (status: number): boolean => status === 408 || status === 429 || status >= 500

export const fetchRequest = (url: string | URL, { method = 'GET', headers = {}, body, json }: FetchOptions): Asked => {
  if (body !== undefined && json !== undefined)
    throw new TrihandError('STEP_MISUSED', 'step.fetch takes a body or json, not both')
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const asked = { url: String(url), method: method.toUpperCase() }
  if (json === undefined) return { ...asked, headers: named, ...(body === undefined ? {} : { body }) }
  return {
    ...asked,
    headers: { 'content-type': 'application/json', ...named },
    body: JSON.stringify(toJson(json)),
  }
}

export const answeredFetch = async (
  fetch: ToolContext['fetch'] | undefined,
  { url, method, headers, ...content }: Asked,
  { effectKey, signal }: StepContext,
): Promise<FetchAnswer> => {
  if (fetch === undefined) throw new TrihandError('FETCH_FAILED', 'there is no way out of this process')
  const keyed = HARMLESS.has(method) || KEY in headers ? headers : { ...headers, [KEY]: effectKey }
  const answer = await fetch(url, { method, headers: keyed, signal, ...content })
  if (!isTrouble(answer.status)) return { status: answer.status, headers: answer.headers, text: answer.text }
  throw new TrihandError('FETCH_FAILED', `${new URL(url).host} answered ${answer.status}`)
}
