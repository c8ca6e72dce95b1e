/**
 * Paths of the project and its compiled programs, and temporary folders.
 *
 * Owns the answer to "am I running from source or from .build?". Never builds anything.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(import.meta.url)
const IS_COMPILED = HERE.endsWith('.js')

const above = (folder: string): string =>
  existsSync(join(folder, 'package-lock.json')) ? folder : above(dirname(folder))

export const PROJECT = above(dirname(HERE))

/** The folder with the compiled copy of the project: the current one, or the one that `npm run build:tools` fills. */
const COMPILED = IS_COMPILED ? dirname(dirname(dirname(HERE))) : join(PROJECT, '.build')

/** The compiled program for a source file of the project, given as `test/chaos/power-cut/child.ts`. */
export const compiled = (source: string): string => {
  const path = join(COMPILED, source.replace(/\.ts$/, '.js'))
  if (!existsSync(path)) throw new Error(`${relative(PROJECT, path)} is not there; run npm run build:tools`)
  return path
}

export const temporaryFolder = (name: string, parent: string = tmpdir()): { readonly path: string; remove(): void } => {
  const path = mkdtempSync(join(parent, `trihand-${name}-`))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** A folder in memory on Linux: ten times as fast, for files that need not survive anything. */
const MEMORY = '/dev/shm'

export const fastFolder = (name: string): ReturnType<typeof temporaryFolder> =>
  temporaryFolder(name, existsSync(MEMORY) ? MEMORY : tmpdir())
