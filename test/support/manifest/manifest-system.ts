/**
 * Builds a system from the text of a manifest and runs it in memory with a virtual clock, for tests of the manifest's keys.
 *
 * Owns the assembly. The test supplies the code of functions, the answers of the model and the events.
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

/** Throws if the loader refuses the text. */
export const systemOf = (text: string, code: Parts['code'] = new Map()): SystemSource => {
  const { manifest, findings } = loadManifest(text)
  if (manifest === null) throw new Error(findings.map(({ line, message }) => `${line}: ${message}`).join('\n'))
  return sourceOf(manifest, { code })
}
