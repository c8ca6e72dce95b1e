/**
 * TypeScript that was translated before: a user's files are translated when they change, not at every call.
 *
 * Owns `.trihand/cache`, one file per source and way of translating. Nothing depends on it: what is missing, damaged, of other
 * text or of another loader is translated again, and a folder that cannot be written is done without.
 *
 * kept-code-1  What is kept counts only for the very text it was made from, and only if it is whole.
 * kept-code-2  Two processes may write at once: a file appears whole or not at all.
 */
import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { TransformOptions, TransformResult } from 'jiti'

export type Translate = (options: TransformOptions) => TransformResult

/** How the loader hands on a file that it cannot parse: as code that says so. Its words name a place, so they are never kept. */
const FAULT = '__JITI_ERROR__'

const digest = (text: string): string => hash('sha256', text, 'hex')

const loaderVersion = (): string => createRequire(import.meta.url)('jiti/package.json').version

/** kept-code-1: the seal is of the source, of how it was translated and of the result. */
const sealOf = (meant: string, code: string): string => digest(`${meant}\n${code}`)

const readKept = (file: string, meant: string): string | null => {
  try {
    const text = readFileSync(file, 'utf8')
    const end = text.indexOf('\n')
    const code = text.slice(end + 1)
    return text.slice(0, end) === sealOf(meant, code) ? code : null
  } catch {
    return null
  }
}

/** kept-code-2. */
const keep = (folder: string, file: string, text: string): void => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const next = `${file}.${process.pid}`
    writeFileSync(next, text, { mode: 0o600 })
    renameSync(next, file)
  } catch {
    // Read-only or full: the next call translates once more.
  }
}

/** Translates as `fresh` does, and only what this folder does not hold yet. */
export const keptCode = (folder: string, fresh: Translate): Translate => {
  const version = loaderVersion()
  return (options) => {
    const { source, filename, ...how } = options
    const manner = JSON.stringify([filename, how])
    const file = join(folder, `${digest(manner)}.js`)
    const meant = digest(JSON.stringify([version, manner, source]))
    const kept = readKept(file, meant)
    if (kept !== null) return { code: kept }
    const made = fresh(options)
    if (!made.code.includes(FAULT)) keep(folder, file, `${sealOf(meant, made.code)}\n${made.code}`)
    return made
  }
}
