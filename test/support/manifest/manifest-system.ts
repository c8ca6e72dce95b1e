/**
 * A system from the text of a manifest, played in memory with a virtual clock: what a test of the manifest's keys builds.
 *
 * Owns the joining. Code of functions, answers of the model and what is asked of the system are the test's.
 */
import type { SystemSource } from '#manifest/define/define.ts'
import { loadManifest } from '#manifest/yaml/load.ts'
import type { Parts } from '#manifest/yaml/parts.ts'
import { sourceOf } from '#manifest/yaml/source.ts'

/** The findings of a text, as `level code line:column message`. */
export const findingsOf = (text: string): readonly string[] =>
  loadManifest(text).findings.map(
    ({ level, code, line, column, message }) => `${level} ${code} ${line}:${column} ${message}`,
  )

export const errorsOf = (text: string): readonly string[] =>
  findingsOf(text).flatMap((line) => (line.startsWith('error ') ? line.slice('error '.length) : []))

/** Throws what the loader refuses. */
export const systemOf = (text: string, code: Parts['code'] = new Map()): SystemSource => {
  const { manifest, findings } = loadManifest(text)
  if (manifest === null) throw new Error(findings.map(({ line, message }) => `${line}: ${message}`).join('\n'))
  return sourceOf(manifest, { code })
}
