/**
 * Loads a user's system from a file: finds the file, loads it (TypeScript, too), and checks that it exports a system.
 *
 * Owns discovery and the errors of a failed load. Each load creates new modules, so that a reload sees new code while runs at work keep
 * theirs. The user's `trihand` is this package, whether it is installed beside the system or not.
 */
import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { keptCode, type Translate } from '#cli/connect/kept-code.ts'
import { problemOf } from '#http/server/problem.ts'
import { defineSystem, type SystemSource } from '#manifest/define/define.ts'
import { isErrorCode, type Place, TrihandError } from '#model/kernel/errors.ts'
import { type Fault, faultOf } from './load-place.ts'

/** Loaded by `require`: for an import of this package Node would first look for its exports, which takes as long as all the rest. */
const { createJiti }: typeof import('jiti') = createRequire(import.meta.url)('jiti')

const FILES = ['manifest.yaml', 'manifest.yml', 'system.ts', 'system.js', 'system.mjs']
/** By name: the public entry of the package that this file belongs to. */
const PACKAGE = 'trihand'

export interface LoadedSystem {
  readonly file: string
  readonly source: SystemSource
}

/** Finds the file of the system in a folder or at a path. */
export const findSystem = (given: string | undefined): string => {
  const path = resolve(given ?? '.')
  if (!existsSync(path))
    throw new TrihandError(
      'LOAD_FAILED',
      `${relative('', path) || path} does not exist; \`trihand init\` creates a system`,
    )
  if (!statSync(path).isDirectory()) return path
  const file = FILES.map((name) => join(path, name)).find((candidate) => existsSync(candidate))
  if (file === undefined) {
    const folder = relative('', path) || 'this folder'
    throw new TrihandError(
      'LOAD_FAILED',
      `${folder} has no system (none of ${FILES.join(', ')}); \`trihand init\` creates one`,
    )
  }
  return file
}

const isSystem = (value: unknown): value is SystemSource =>
  typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string'

const systemIn = (exports: Readonly<Record<string, unknown>>, file: string): SystemSource => {
  const found = [exports['system'], exports['default']].find(isSystem)
  if (found !== undefined) return found
  const problem = 'it exports no system; expected `export const system = defineSystem({ name, events, functions })`'
  throw new TrihandError('LOAD_FAILED', problem, { place: { file: relative('', file) } })
}

const withPosition = (detail: string, place: Place): string =>
  place.column === undefined ? detail : `${detail} (column ${place.column} of the expression)`

/** A Trihand error keeps its code and gets the place in the user's file; any other becomes LOAD_FAILED there. */
const told = (error: unknown, fault: Fault, file: string): TrihandError => {
  const place = fault.place ?? { file: relative('', file) }
  const { code, detail, place: within = {} } = problemOf(error)
  if (!isErrorCode(code) || code === 'INTERNAL')
    return new TrihandError('LOAD_FAILED', fault.message, { place, cause: error })
  const path = within.path === undefined ? {} : { path: within.path }
  return new TrihandError(code, withPosition(detail, within), { place: { ...place, ...path }, cause: error })
}

/** Options of every loader here. The loader's own cache may mix two versions of a file that two processes write at once, so it is off. */
const LOADER = { moduleCache: false, fsCache: false } as const

/** The mark in translated code that says it was an ES module. */
const MARK = /^("use strict";)?Object\.defineProperty\(exports, "__esModule", \{ value: true \}\);/

/**
 * Without the mark the loader takes `export default` as it is. With it, the loader takes the member `default` of the exported value if that
 * is a function: Zod and ArkType schemas have a method of that name.
 */
const unmarked = ({ code, ...rest }: ReturnType<Translate>): ReturnType<Translate> => ({
  ...rest,
  code: code.replace(MARK, '$1'),
})

/** Translates TypeScript, with the results cached in a folder. The translating package is loaded with the first file that is not cached. */
const translator = (keepIn: string): Translate => {
  const loader = createJiti(import.meta.url, LOADER)
  const translate = keptCode(keepIn, (options) => ({ code: loader.transform(options) }))
  return (options) => unmarked(translate(options))
}

/** `keepIn`: the folder in which translated code is cached. */
export const loadSystem = async (given: string | undefined, keepIn: string): Promise<LoadedSystem> => {
  const file = findSystem(given)
  const jiti = createJiti(import.meta.url, {
    ...LOADER,
    transform: translator(keepIn),
    virtualModules: { [PACKAGE]: await import(PACKAGE) },
  })
  return { file, source: { folder: dirname(file), ...checked(await sourceIn(jiti, file), file) } }
}

/** A manifest is joined with the code beside it; a code file exports the whole system. */
const sourceIn = async (jiti: ReturnType<typeof createJiti>, file: string): Promise<SystemSource> => {
  if (!/\.ya?ml$/.test(file)) return systemIn(await imported(jiti, file), file)
  const { systemFromManifest } = await import('./load-manifest.ts')
  return systemFromManifest(file, (path) => imported(jiti, path))
}

const imported = async (
  jiti: ReturnType<typeof createJiti>,
  file: string,
): Promise<Readonly<Record<string, unknown>>> => {
  try {
    return await jiti.import(file)
  } catch (error) {
    throw told(error, faultOf(error, dirname(file)), file)
  }
}

/** Validates the system here, where its file is known, because the author may not have called defineSystem. */
const checked = (source: SystemSource, file: string): SystemSource => {
  try {
    return defineSystem(source)
  } catch (error) {
    throw told(error, { message: '', place: null }, file)
  }
}
