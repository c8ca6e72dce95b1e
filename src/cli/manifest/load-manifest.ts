/**
 * Loads a system from a folder with a manifest: the manifest is checked first, then joined with the code beside it.
 *
 * Owns the error for an invalid manifest: its first error, with its place, and the number of others.
 */
import { dirname, join } from 'node:path'
import { guardFetch } from '#compose/functions.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import type { Finding } from '#manifest/yaml/finding.ts'
import { sourceOf } from '#manifest/yaml/source.ts'
import { isErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { readManifest } from './folder.ts'
import { type Exports, partsOf, toolsBeside } from './parts.ts'

const refused = (errors: readonly Finding[]): TrihandError => {
  const [first] = errors
  const code = first !== undefined && isErrorCode(first.code) ? first.code : 'MANIFEST_INVALID'
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more: \`trihand manifest validate\` shows all)` : ''
  const { file = '', line = 1, column = 1, path = '' } = first ?? {}
  return new TrihandError(code, `${first?.message ?? ''}${more}`, { place: { file, line, column, path } })
}

export const systemFromManifest = async (
  file: string,
  load: (path: string) => Promise<Exports>,
): Promise<SystemSource> => {
  const { manifest, findings, paths } = readManifest(file)
  if (manifest === null) throw refused(findings.filter(({ level }) => level === 'error'))
  const folder = dirname(file)
  guardFetch(manifest.modules !== undefined)
  const beside = { folder, paths, load: (path: string) => load(join(folder, path)) }
  const parts = await partsOf(manifest, beside)
  const tools = await toolsBeside(beside)
  return { ...sourceOf(manifest, parts), findings, ...(tools.length === 0 ? {} : { tools }) }
}
