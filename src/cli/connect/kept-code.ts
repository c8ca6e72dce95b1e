/**
 * A cache of translated TypeScript: the files of a user are translated when they change, not at every call.
 *
 * Owns `.trihand/cache`, one file per source file and options. The cache is optional: an entry that is missing, damaged, of another text or
 * of another loader version is translated again, and if the folder cannot be written there is no cache.
 *
 * kept-code-1  A cached file is used only for the exact text it was made from, and only if it is complete.
 * kept-code-2  Two processes may write at once: a file appears complete or not at all.
 */
import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { TransformOptions, TransformResult } from 'jiti'

export type Translate = (options: TransformOptions) => TransformResult

/** The loader returns a file that it cannot parse as code with this name. Its message names a place, so it is never cached. */
const FAULT = '__JITI_ERROR__'

const digest = (text: string): string => hash('sha256', text, 'hex')

const loaderVersion = (): string => createRequire(import.meta.url)('jiti/package.json').version

/** kept-code-1: the seal covers the source, the options and the result. */
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
    // Read-only or full: the next call translates again.
  }
}

/** Translates as `fresh` does, but only what this folder does not contain yet. */
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
