/**
 * Random requests based on /openapi.json: some valid, some slightly wrong, some nonsense.
 *
 * Owns what a request looks like. Knows routes only from the document; names and ids of existing things come from the world.
 */
import type { Random } from '#test/support/random.ts'

// biome-ignore lint/suspicious/noExplicitAny: the document as it came over the wire
type Node = any

export interface Pool {
  /** Existing ids and names, by the name of a parameter or a member; `runs/id` takes precedence over `id`. */
  readonly known: Readonly<Record<string, readonly string[]>>
}

export interface FuzzRequest {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

const TEXTS = [
  ...['', ' ', 'x', '0', '-1', 'null', 'true', 'Zoë "q" %', '<script>alert(1)</script>', "'; drop table run; --"],
  ...['../../etc/passwd', '{{ payload }}', '\u0000', '\u202e', '__proto__', '10ms', '1e999', 'x'.repeat(300)],
  ...['2026-01-31T08:00:00Z', '2026-13-45T99:00:00Z', '2026-01-31', '*', '"1"', 'run_00000000', 'ffffff'],
] as const
const JUNK: readonly unknown[] = [null, true, 0, -1, 1.5, 1e21, '', 'x', [], [1, 'a', null], {}, { a: { b: [] } }]
const RAW = ['', '{', '[]', 'null', '"text"', '{"a":1', '\u0000', '{"__proto__":{"admin":true}}', '['.repeat(2_000)]
const TYPES = ['text/plain', 'application/x-www-form-urlencoded', 'application/cloudevents+json', '']
const PEOPLE = ['ana', 'eve', 'Zo%C3%AB', '%', ''] as const
const STOP = '/api/stop'
const MAX_DEPTH = 4

export class Requests {
  readonly #document: Node
  readonly #operations: readonly { readonly path: string; readonly method: string; readonly operation: Node }[]
  readonly #random: Random
  readonly #pool: Pool

  constructor(document: Node, pool: Pool, random: Random) {
    this.#document = document
    this.#pool = pool
    this.#random = random
    this.#operations = Object.entries<Node>(document.paths)
      .flatMap(([path, item]) => Object.entries<Node>(item).map(([method, operation]) => ({ path, method, operation })))
      // No request stops everything, not even by another method: work that others started must be done.
      .filter(({ path, method }) => method === 'get' || !path.startsWith(STOP))
  }

  /** `onlyGet`: only requests that must change nothing. */
  next(onlyGet: boolean): FuzzRequest {
    const random = this.#random
    const from = onlyGet ? this.#operations.filter(({ method }) => method === 'get') : this.#operations
    const { path, method, operation } = random.pick(from)
    const isStray = !onlyGet && !path.startsWith(STOP) && random.chance(0.02)
    const verb = isStray ? random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) : method.toUpperCase()
    const hasBody = verb !== 'GET' && verb !== 'OPTIONS'
    return {
      id: operation.operationId,
      method: verb,
      path: `${this.#path(path, verb)}${this.#query(operation)}`,
      headers: this.#headers(operation),
      body: hasBody ? this.#body(operation) : undefined,
    }
  }

  #path(path: string, verb: string): string {
    const room = path.split('/')[2] ?? ''
    return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      // No request drains the only worker: it must do the work that others started.
      const isSpared = room === 'workers' && verb !== 'GET'
      const known = isSpared ? [] : (this.#pool.known[`${room}/${name}`] ?? [])
      return this.#random.chance(0.85) && known.length > 0
        ? encodeURIComponent(this.#random.pick(known))
        : encodeURIComponent(this.#random.pick(TEXTS)) || 'x'
    })
  }

  #query(operation: Node): string {
    const random = this.#random
    const given = (operation.parameters ?? []).filter(
      (parameter: Node) => parameter.in === 'query' && random.chance(0.3),
    )
    const pairs = given.map(({ name, schema }: Node) => [name, this.#queryValue(name, schema)])
    if (random.chance(0.03)) pairs.push([random.pick(['curser', 'x', '__proto__', '']), 'x'])
    const text = new URLSearchParams(pairs).toString()
    return text === '' ? '' : `?${text}`
  }

  #queryValue(name: string, schema: Node): string {
    // No request waits for seconds, because the fuzz sends a hundred thousand.
    if (name === 'wait') return this.#random.pick(['1ms', '5ms', 'x', ''])
    const value = this.#random.chance(0.7) ? this.#value(schema, name, 0) : this.#random.pick(TEXTS)
    return typeof value === 'string' ? value : JSON.stringify(value)
  }

  #headers(operation: Node): Record<string, string> {
    const random = this.#random
    const odd = random.chance(0.03)
    const type = odd ? random.pick(TYPES) : 'application/json'
    return {
      ...(operation.requestBody === undefined ? {} : { 'content-type': type }),
      ...(random.chance(0.7) ? { 'x-trihand-user': random.pick(PEOPLE), 'x-trihand-groups': 'editors' } : {}),
      ...(random.chance(0.05) ? { 'x-trihand-kind': random.pick(['user', 'agent', 'service', 'x']) } : {}),
      ...(random.chance(0.1) ? { 'idempotency-key': random.pick(['a', 'b', 'x'.repeat(300)]) } : {}),
      ...(random.chance(0.05) ? { 'if-match': random.pick(['"1"', '"3"', '*', 'x']) } : {}),
      ...(random.chance(0.05) ? { 'if-none-match': random.pick(['"1"', '"3"', '*', 'x']) } : {}),
      ...(random.chance(0.01) ? { authorization: 'Bearer th_nobody' } : {}),
    }
  }

  #body({ requestBody }: Node): string {
    const random = this.#random
    if (requestBody === undefined || (requestBody.required !== true && random.chance(0.5))) return ''
    if (random.chance(0.05)) return random.pick(RAW)
    const schema = requestBody.content['application/json']?.schema ?? {}
    const value = this.#value(schema, '', 0)
    return JSON.stringify(random.chance(0.25) ? this.#damaged(value) : value)
  }

  /** One member missing, wrong or extra. */
  #damaged(value: unknown): unknown {
    const random = this.#random
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return random.pick(JUNK)
    const members = Object.entries(value)
    const at = random.below(members.length + 1)
    if (at === members.length) return { ...value, [random.pick(['extra', 'constructor', ''])]: random.pick(JUNK) }
    const kept = members.map(([name, own], i) => [name, i === at ? random.pick(JUNK) : own] as const)
    return Object.fromEntries(random.chance(0.5) ? kept : members.filter((_, i) => i !== at))
  }

  #value(schema: Node, name: string, depth: number): unknown {
    const random = this.#random
    if (schema.$ref !== undefined) return this.#value(this.#resolved(schema.$ref), name, depth)
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return random.pick(schema.enum)
    if (schema.anyOf !== undefined) return this.#value(random.pick(schema.anyOf), name, depth)
    if (depth > MAX_DEPTH) return null
    switch (schema.type) {
      case 'object':
        return this.#object(schema, depth)
      case 'array':
        return Array.from({ length: random.below(3) }, () => this.#value(schema.items, name, depth + 1))
      case 'integer':
      case 'number':
        return random.pick([0, 1, 2, 50, 200, -1, 1_000_000])
      case 'boolean':
        return random.chance(0.5)
      case 'null':
        return null
      case 'string':
        return this.#text(schema, name)
      default:
        return random.pick(JUNK)
    }
  }

  #text(schema: Node, name: string): string {
    const known = this.#pool.known[name] ?? []
    if (known.length > 0 && this.#random.chance(0.85)) return this.#random.pick(known)
    if (schema.format === 'date-time' && this.#random.chance(0.8)) return '2026-01-31T08:00:00.000Z'
    return this.#random.pick(TEXTS)
  }

  #object(schema: Node, depth: number): unknown {
    const random = this.#random
    const required: readonly string[] = schema.required ?? []
    const members = Object.entries<Node>(schema.properties ?? {})
      .filter(([name]) => required.includes(name) || random.chance(0.4))
      .map(([name, own]) => [name, this.#value(own, name, depth + 1)] as const)
    if (typeof schema.additionalProperties === 'object')
      members.push([random.pick(['letter', 'a', 'text']), this.#value(schema.additionalProperties, '', depth + 1)])
    return Object.fromEntries(members)
  }

  #resolved(reference: string): Node {
    return this.#document.components.schemas[reference.split('/').at(-1) ?? '']
  }
}
