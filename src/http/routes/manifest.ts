/**
 * Routes for the running system: its definition, its versions, and its graph with the runs of each handler.
 *
 * Owns the routes only; the graph itself is built by the manifest (system-graph.ts).
 */
import { VALIDATE, validated } from '#http/documents/manifest.ts'
import { page, ref } from '#http/openapi/schema.ts'
import { optionalText, readBody, textOf } from '#http/server/body.ts'
import { Validation } from '#http/validation/validation.ts'
import { MOST_COUNTED } from '#http/wire/counts.ts'
import { graphDocument } from '#http/wire/graph.ts'
import { isoTimeOrNull } from '#http/wire/time.ts'
import { isOwn } from '#manifest/define/builtin-functions.ts'
import { jsonSchemaOrNull } from '#manifest/schema/json-schema.ts'
import { body, type Handle, JSON_TYPE, json, type Operation } from './route.ts'

const graph: Handle = async ({ system, reader, tenant }, context) => {
  return context.json(graphDocument(system, await reader.newestCounts(tenant, MOST_COUNTED)))
}

const show: Handle = async ({ system }, context) =>
  context.json({
    name: system.name,
    hash: system.hash,
    events: [...system.events.keys()],
    handlers: [...system.functions.values()]
      .filter(({ name }) => !isOwn(name))
      .map(({ name, modality, input }) => ({ name, modality, input_schema: jsonSchemaOrNull(input) })),
    findings: system.findings,
  })

const versions: Handle = async ({ system, versions: known, tenant }, context) => {
  const items = (await known.list(tenant)).map(({ hash, name, seenAt, openRuns, more }) => ({
    ...{ hash, name, is_current: hash === system.hash },
    first_seen_at: isoTimeOrNull(seenAt),
    ...{ open_runs: openRuns, more },
  }))
  return context.json({ items, next_cursor: null })
}

const CODE = 'INPUT_INVALID'

/** Validates the text alone: no other file is read, nothing is executed and nothing is kept. */
const validateWith =
  (validation: Validation): Handle =>
  async (_, context) => {
    const members = await readBody(context, { schema: VALIDATE, code: CODE })
    const text = textOf(members, 'text', CODE)
    const file = optionalText(members, 'file', CODE)
    const verdict = await validation.judge(file === undefined ? { text } : { text, file })
    return context.body(verdict, 200, { 'content-type': JSON_TYPE })
  }

export const manifestRoutes = (validation = new Validation()): readonly Operation[] => [
  {
    id: 'getManifest',
    method: 'get',
    path: '/api/manifest',
    access: 'viewer',
    summary: 'The running system: its events, its handlers, its hash, what lint says of it',
    answers: { 200: json(ref('System')) },
    handle: show,
  },
  {
    id: 'listManifestVersions',
    method: 'get',
    path: '/api/manifest/versions',
    access: 'viewer',
    summary: 'Definitions that were loaded or that open runs are pinned to, the newest first',
    answers: { 200: json(page(ref('ManifestVersion'))) },
    handle: versions,
  },
  {
    id: 'validateManifest',
    method: 'post',
    path: '/api/manifest/validate',
    access: 'viewer',
    summary: 'What is wrong with the text of a manifest; nothing of it is put in force',
    body: body(VALIDATE),
    answers: { 200: json(validated) },
    problems: ['INPUT_INVALID'],
    handle: validateWith(validation),
  },
  {
    id: 'getGraph',
    method: 'get',
    path: '/api/manifest/graph',
    access: 'viewer',
    summary: 'The running system as a graph: who hears and sends what, what each has to do now',
    answers: { 200: json(ref('Graph')) },
    handle: graph,
  },
]
