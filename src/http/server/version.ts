/**
 * Versions over HTTP: an ETag on versioned documents, `If-None-Match` answered with 304, `If-Match` on commands.
 *
 * Owns the format of tags. Never protects a write by itself: whether a command is allowed is decided where it is written.
 */
import type { Context } from 'hono'
import { TrihandError } from '#model/kernel/errors.ts'

/** `beside`: versions of other things in the same document; they follow the version in the tag. */
export const tagOf = (version: number, ...beside: readonly number[]): string =>
  `"${[version, ...(beside.some((part) => part > 0) ? beside : [])].join('-')}"`

const tagsIn = (header: string): readonly string[] => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))

const names = (header: string, tag: string): boolean => header.trim() === '*' || tagsIn(header).includes(tag)

/** Answers 304 if the caller has this version already. */
export const unlessSame = (context: Context, response: Response): Response => {
  const tag = response.headers.get('etag')
  const known = context.req.header('if-none-match')
  if (tag === null || known === undefined || response.status !== 200 || !names(known, tag)) return response
  return new Response(null, { status: 304, headers: { etag: tag } })
}

const VERSION = /^"(\d+)(-[\d-]*)?"$/

/** The version that a change is based on; null: the caller gives none. */
export const versionWanted = (context: Context): number | null => {
  const [, version] = VERSION.exec(tagsIn(context.req.header('if-match') ?? '')[0] ?? '') ?? []
  return version === undefined ? null : Number(version)
}

/** Refuses a command whose If-Match names another version than the current one. */
export const requireVersion = (context: Context, version: number): void => {
  const wanted = context.req.header('if-match')
  if (wanted === undefined || wanted.trim() === '*') return
  const versions = tagsIn(wanted).map((tag) => tag.replace(VERSION, '$1'))
  if (!versions.includes(String(version)))
    throw new TrihandError('PRECONDITION_FAILED', `it is at version ${version}; the request names version ${wanted}`)
}
