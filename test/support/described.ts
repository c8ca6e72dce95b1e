/**
 * Checks every answer against /openapi.json as it is served, so that the document stays true.
 *
 * Owns the search for the operation and the check of status, media type and body; of accepted requests also the sent body. An answer may
 * have no member that its description does not name.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

// biome-ignore lint/suspicious/noExplicitAny: the document as it came over the wire
type Document = any

export interface Exchange {
  readonly method: string
  /** Path and query as requested. */
  readonly path: string
  /** Undefined: no body, or one without a schema. */
  readonly sent: unknown
  /** The media type of the request's body; JSON if absent. */
  readonly sentType?: string
  readonly status: number
  readonly type: string
  readonly text: string
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/
/** Possible answers to an unknown path or method, and of a guard before the route. */
const UNROUTED = new Set([403, 404, 405, 413])

/** The interface may grow, so the document leaves objects open; here an unknown member is a fault. */
const shut = (node: Document): Document => {
  if (Array.isArray(node)) return node.map(shut)
  if (node === null || typeof node !== 'object') return node
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, shut(value)]))
  const isObject = copy['type'] === 'object' && copy['properties'] !== undefined
  return isObject && copy['additionalProperties'] === undefined ? { ...copy, additionalProperties: false } : copy
}

const pointer = (...parts: readonly (string | number)[]): string =>
  parts.map((part) => `/${encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')

/** The pattern with fewer names in it matches better. */
const patternOf = (path: string): { readonly path: string; readonly pattern: RegExp; readonly names: number } => {
  const source = path.replaceAll(/[.+*]/g, '\\$&').replaceAll(/\{(\w+)\}/g, path.startsWith('/hooks/') ? '.+' : '[^/]+')
  return { path, pattern: new RegExp(`^${source}$`), names: path.split('{').length }
}

export class Described {
  readonly #document: Document
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, logger: false })
  readonly #paths: readonly ReturnType<typeof patternOf>[]
  readonly #checks = new Map<string, ValidateFunction>()

  constructor(document: Document) {
    this.#document = document
    this.#ajv.addFormat('date-time', DATE_TIME)
    this.#ajv.addSchema({ ...shut(document), $id: 'http://described/openapi.json' })
    this.#paths = Object.keys(document.paths)
      .map(patternOf)
      .sort((one, other) => one.names - other.names)
  }

  /** The fault in words; null if the answer matches the document. */
  fault(exchange: Exchange): string | null {
    const path = exchange.path.split(/[?#]/)[0] ?? ''
    const found = this.#paths.find(({ pattern }) => pattern.test(path))
    const method = exchange.method === 'HEAD' ? 'get' : exchange.method.toLowerCase()
    const operation = found && this.#document.paths[found.path][method]
    if (found === undefined || operation === undefined)
      return UNROUTED.has(exchange.status) ? this.#problemFault(exchange) : `${exchange.status} without a route`
    return this.#answerFault(exchange, found.path, method) ?? this.#sentFault(exchange, found.path, method)
  }

  #problemFault(exchange: Exchange): string | null {
    return exchange.method === 'HEAD' ? null : this.#check('/components/schemas/Problem', JSON.parse(exchange.text))
  }

  #answerFault(exchange: Exchange, path: string, method: string): string | null {
    const { status, type, text } = exchange
    if (status === 405) return null
    const responses = this.#document.paths[path][method].responses
    const response = responses[status]
    if (response === undefined) return `${status} is not described, only ${Object.keys(responses)}`
    const media = type.split(';')[0]?.trim() ?? ''
    const content = response.content ?? {}
    if (exchange.method === 'HEAD') return null
    if (content[media] === undefined) return text === '' ? null : `${status} as ${media || 'nothing'} is not described`
    const at = pointer('paths', path, method, 'responses', status, 'content', media, 'schema')
    const value = media.endsWith('json') ? JSON.parse(text) : text
    const fault = this.#check(at, value)
    if (fault !== null || media !== 'application/problem+json') return fault
    return response.description.split(', ').includes(value.code) || content['application/json'] !== undefined
      ? null
      : `${value.code} is not described, only ${response.description}`
  }

  /** Checks only accepted requests: a refused body need not match. */
  #sentFault({ sent, sentType, status }: Exchange, path: string, method: string): string | null {
    const content = this.#document.paths[path][method].requestBody?.content ?? {}
    const media = sentType?.split(';')[0]?.trim() ?? 'application/json'
    if (status >= 300 || sent === undefined || content[media] === undefined) return null
    return this.#check(pointer('paths', path, method, 'requestBody', 'content', media, 'schema'), sent)
  }

  #check(at: string, value: unknown): string | null {
    const check = this.#checks.get(at) ?? this.#ajv.compile({ $ref: `http://described/openapi.json#${at}` })
    this.#checks.set(at, check)
    return check(value) ? null : `does not fit ${at}: ${this.#ajv.errorsText(check.errors)}`
  }
}
