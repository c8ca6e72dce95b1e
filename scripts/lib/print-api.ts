/**
 * Prints TypeScript from an OpenAPI document: one interface per document on the wire, one entry per operation.
 *
 * Knows only the keywords that our descriptions use, and fails on any other rather than print a wider type.
 */
// biome-ignore lint/suspicious/noExplicitAny: a document of many shapes, read keyword by keyword
type Node = any

const HEADER = `/**
 * What goes over the wire, in TypeScript. Written by \`npm run api\` from /openapi.json; do not edit.
 *
 * Owns the types that the server, the client, the command line and the web app share: the descriptions of the routes are their source.
 */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type Nothing = Readonly<Record<string, never>>
`

const literal = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const nameOf = (key: string): string => (/^[A-Za-z_]\w*$/.test(key) ? key : literal(key))

const membersOf = ({ properties = {}, required = [] }: Node): readonly string[] =>
  Object.entries<Node>(properties).map(
    ([key, schema]) => `readonly ${nameOf(key)}${required.includes(key) ? '' : '?'}: ${typeOf(schema)}`,
  )

const braced = (members: readonly string[]): string => (members.length === 0 ? 'Nothing' : `{ ${members.join('; ')} }`)

const objectOf = (schema: Node): string => {
  if (schema.properties !== undefined) return braced(membersOf(schema))
  const values = typeof schema.additionalProperties === 'object' ? typeOf(schema.additionalProperties) : 'Json'
  return `{ readonly [key: string]: ${values} }`
}

const listOf = (schema: Node): string => {
  const items = typeOf(schema.items)
  return `readonly ${/^[\w.]+$|^\{[^|]*\}$/.test(items) ? items : `(${items})`}[]`
}

const SIMPLE: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

const typeOf = (schema: Node): string => {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.type === undefined) return 'Json'
  if (schema.type === 'object') return objectOf(schema)
  if (schema.type === 'array') return listOf(schema)
  const simple = SIMPLE[schema.type]
  if (simple === undefined) throw new Error(`cannot print ${JSON.stringify(schema)}`)
  return simple
}

const interfaceOf = (name: string, schema: Node): string => {
  if (schema.properties === undefined) return `export type ${name} = ${typeOf(schema)}`
  const lines = Object.entries<Node>(schema.properties).flatMap(([, own], i) => [
    ...(own.description === undefined ? [] : [`  /** ${own.description.replaceAll('*/', '')} */`]),
    `  ${membersOf(schema)[i]}`,
  ])
  return [`export interface ${name} {`, ...lines, '}'].join('\n')
}

const JSON_MEDIA = 'application/json'

const outputOf = (responses: Node): string | null => {
  const well = Object.entries<Node>(responses).filter(([status]) => status.startsWith('2'))
  // The results of a batch are sent as another media type, unless they are the only result.
  const good = well.length > 1 ? well.filter(([status]) => status !== '207') : well
  const types = good.map(([, { content }]) => {
    if (content === undefined) return 'null'
    return content[JSON_MEDIA] === undefined ? null : typeOf(content[JSON_MEDIA].schema)
  })
  return types.length === 0 || types.includes(null) ? null : [...new Set(types)].join(' | ')
}

const parametersOf = (operation: Node, place: 'path' | 'query'): string => {
  const own = (operation.parameters ?? []).filter((parameter: Node) => parameter.in === place)
  if (own.length === 0) return ''
  const members = own.map(
    ({ name, required, schema }: Node) => `readonly ${name}${required ? '' : '?'}: ${typeOf(schema)}`,
  )
  const isNeeded = own.some(({ required }: Node) => required === true)
  return `readonly ${place}${isNeeded ? '' : '?'}: { ${members.join('; ')} }`
}

const bodyOf = ({ requestBody }: Node): string => {
  const content = requestBody?.content[JSON_MEDIA]
  return content === undefined ? '' : `readonly body${requestBody.required ? '' : '?'}: ${typeOf(content.schema)}`
}

interface Entry {
  readonly id: string
  readonly type: string
  readonly route: string
}

const takesOther = ({ requestBody }: Node): boolean =>
  requestBody !== undefined && requestBody.content[JSON_MEDIA] === undefined

/** Null: a page, a stream or a webhook delivery, none of which is an API call. */
const entryOf = (path: string, method: string, operation: Node): Entry | null => {
  const output = outputOf(operation.responses)
  if (output === null || takesOther(operation)) return null
  const input = [parametersOf(operation, 'path'), parametersOf(operation, 'query'), bodyOf(operation)]
  const id = operation.operationId
  const given = braced(input.filter((part) => part !== ''))
  const type = `  /** ${operation.summary}. */\n  readonly ${id}: { readonly input: ${given}; readonly output: ${output} }`
  return { id, type, route: `  ${id}: ${literal(`${method.toUpperCase()} ${path}`)},` }
}

export const printApi = (document: Node): string => {
  const entries = Object.entries<Node>(document.paths).flatMap(([path, item]) =>
    Object.entries<Node>(item).flatMap(([method, operation]) => entryOf(path, method, operation) ?? []),
  )
  return [
    HEADER,
    ...Object.entries<Node>(document.components.schemas).map(([name, schema]) => `${interfaceOf(name, schema)}\n`),
    '/** Every operation by its id: what it takes, what it answers. */',
    'export interface Api {',
    ...entries.map(({ type }) => type),
    '}\n',
    'export const ROUTES: Readonly<Record<keyof Api, string>> = {',
    ...entries.map(({ route }) => route),
    '}\n',
  ].join('\n')
}
