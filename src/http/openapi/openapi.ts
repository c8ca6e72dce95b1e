/**
 * Translates the table of routes into an OpenAPI 3.1 document.
 *
 * Owns the translation. Everything in the document comes from the table: a route that is added there appears here.
 */
import { COMPONENTS } from '#http/documents/components.ts'
import type { Content, Description, RequestBody } from '#http/routes/route.ts'
import { byStatus, problemsOf } from '#http/server/problems.ts'
import type { ErrorCode } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { ref, type Schema, text } from './schema.ts'

type Document = { readonly [key: string]: Json }

const PROBLEM_TYPE = 'application/problem+json'

const contentOf = ({ media, schema }: Content): Document => ({ [media]: { schema } })

const WORDS: Readonly<Record<number, string>> = {
  200: 'Done',
  201: 'Made',
  202: 'Taken',
  204: 'Done, nothing to say',
  207: 'Each with its own verdict',
  303: 'Look there',
  304: 'As it was',
}

/** A `{path+}` of the table is `{path}` in OpenAPI. */
const documentPath = (path: string): string => path.replaceAll('+}', '}')

const pathParameters = (path: string): readonly Document[] =>
  [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name = '']) => ({ name, in: 'path', required: true, schema: text }))

const queryParameters = (query: Description['query']): readonly Document[] =>
  query === undefined || query === '*'
    ? []
    : Object.entries(query).map(([name, { description, ...schema }]) => ({
        ...{ name, in: 'query', schema },
        ...(description === undefined ? {} : { description }),
      }))

const bodyOf = ({ isRequired, content }: RequestBody): Document => ({
  required: isRequired,
  content: Object.assign({}, ...content.map(contentOf)) as Document,
})

const answersOf = ({ answers }: Description): readonly [string, Document][] =>
  Object.entries(answers).map(([status, content]) => [
    status,
    { description: WORDS[Number(status)] ?? 'See the document', ...(content && { content: contentOf(content) }) },
  ])

const refusal = (codes: readonly ErrorCode[]): Document => ({
  description: codes.join(', '),
  content: { [PROBLEM_TYPE]: { schema: ref('Problem') } },
})

/** If a status is both an answer and a problem, as for a server that is not ready, both documents are listed. */
const responsesOf = (description: Description): Document => {
  const responses = new Map(answersOf(description))
  for (const [code, codes] of byStatus(problemsOf(description))) {
    const status = String(code)
    const { content: own, ...answer } = responses.get(status) ?? {}
    const { content, ...said } = refusal(codes)
    const both = { ...(own as Document | undefined), ...(content as Document) }
    responses.set(status, { ...said, ...answer, content: both })
  }
  return Object.fromEntries(responses)
}

const operationOf = (description: Description): Document => {
  const { id, path, access, summary, query, body } = description
  const parameters = [...pathParameters(path), ...queryParameters(query)]
  return {
    operationId: id,
    summary,
    'x-trihand-access': access,
    security: access === 'public' ? [] : [{ token: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: bodyOf(body) }),
    responses: responsesOf(description),
  }
}

const pathsOf = (descriptions: readonly Description[]): Document => {
  const paths: Record<string, Document> = {}
  for (const description of descriptions) {
    const path = documentPath(description.path)
    paths[path] = { ...paths[path], [description.method]: operationOf(description) }
  }
  return paths
}

export interface OpenApi extends Document {
  readonly paths: { readonly [path: string]: Json }
  readonly components: { readonly schemas: Readonly<Record<string, Schema>>; readonly securitySchemes: Document }
}

export const openApi = (descriptions: readonly Description[], version: string): OpenApi => ({
  openapi: '3.1.0',
  jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
  info: { title: 'Trihand', version, summary: 'Durable execution with three hands', license: { name: 'MIT' } },
  servers: [{ url: '/' }],
  paths: pathsOf(descriptions),
  components: { schemas: COMPONENTS, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
})
