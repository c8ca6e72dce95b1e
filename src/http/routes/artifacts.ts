/**
 * The route for files that agents have left.
 *
 * Owns how they are served: as an attachment, whatever they contain, so that no page of this origin ever executes one.
 */
import { described, type Schema, text } from '#http/openapi/schema.ts'
import { findRun } from '#http/server/run-id.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Handle, Operation } from './route.ts'

const BYTES = 'application/octet-stream'
const bytes: Schema = { type: 'string', format: 'binary' }

/** RFC 6266: characters that are not allowed in the header are percent-encoded. */
const nameOf = (path: string): string => {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename*=UTF-8''${encoded}`
}

const show: Handle = async (service, context, query) => {
  const named = query.get('run')
  if (named === undefined)
    throw new TrihandError('QUERY_UNKNOWN', 'run is missing; expected ?run= with the id of the run that left the file')
  const { id } = await findRun(service, named)
  const artifact = await service.artifact(id, context.req.param('hash') ?? '')
  return context.body(Buffer.from(artifact.text, artifact.encoding), 200, {
    'content-type': BYTES,
    'content-disposition': nameOf(artifact.path),
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    ...(artifact.isSimulated ? { 'x-trihand-simulated': 'true' } : {}),
  })
}

export const artifactRoutes: readonly Operation[] = [
  {
    id: 'getArtifact',
    method: 'get',
    path: '/api/artifacts/{hash}',
    access: 'viewer',
    summary: 'A file that an agent has left, as an attachment; the hash stands in the step agent/artifacts of its run',
    query: { run: described('the run that left it', text) },
    answers: { 200: { media: BYTES, schema: bytes } },
    problems: ['NOT_FOUND', 'ID_AMBIGUOUS', 'QUERY_UNKNOWN'],
    handle: show,
  },
]
