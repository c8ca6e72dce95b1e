/**
 * Versions over HTTP: an ETag on what has one, `If-None-Match` answered with 304, `If-Match` on commands.
 *
 * Owns the spelling of tags. Never guards a write by itself: what a command may do is decided where it is written.
 */
import type { Context } from 'hono'
import { TrihandError } from '#model/kernel/errors.ts'

/** What else an answer shows beside the thing itself goes behind the version. */
export const tagOf = (version: number, ...beside: readonly number[]): string =>
  `"${[version, ...(beside.some((part) => part > 0) ? beside : [])].join('-')}"`

const tagsIn = (header: string): readonly string[] => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))

const names = (header: string, tag: string): boolean => header.trim() === '*' || tagsIn(header).includes(tag)

/** The caller has it already. */
export const unlessSame = (context: Context, response: Response): Response => {
  const tag = response.headers.get('etag')
  const known = context.req.header('if-none-match')
  if (tag === null || known === undefined || response.status !== 200 || !names(known, tag)) return response
  return new Response(null, { status: 304, headers: { etag: tag } })
}

const VERSION = /^"(\d+)(-[\d-]*)?"$/

/** The version that a change is made of; null: the caller does not say. */
export const versionWanted = (context: Context): number | null => {
  const [, version] = VERSION.exec(tagsIn(context.req.header('if-match') ?? '')[0] ?? '') ?? []
  return version === undefined ? null : Number(version)
}

/** A command that is meant for what the caller has seen, and nothing later. */
export const requireVersion = (context: Context, version: number): void => {
  const wanted = context.req.header('if-match')
  if (wanted === undefined || wanted.trim() === '*') return
  const versions = tagsIn(wanted).map((tag) => tag.replace(VERSION, '$1'))
  if (!versions.includes(String(version)))
    throw new TrihandError('PRECONDITION_FAILED', `it is at version ${version}, and ${wanted} was asked for`)
}
