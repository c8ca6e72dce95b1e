/**
 * A manifest on disk: finds its file, lists the files beside it, and loads it with its findings.
 *
 * Owns the reading. Executes nothing of the folder: load-manifest.ts does, for commands that run a system.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { type LoadedManifest, loadManifest } from '#manifest/yaml/load.ts'
import { TrihandError } from '#model/kernel/errors.ts'

const MANIFEST_FILES = ['manifest.yaml', 'manifest.yml']
const MAX_FILES = 5_000
const isHidden = (name: string): boolean => name.startsWith('.') || name === 'node_modules'

/** The files below a folder, with `/` between the parts; without hidden ones and packages. */
const filesBelow = (root: string): readonly string[] => {
  const files: string[] = []
  const folders = ['']
  for (const folder of folders) {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      if (isHidden(entry.name)) continue
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) folders.push(path)
      else files.push(path)
    }
    if (files.length > MAX_FILES) break
  }
  return files
}

export const findManifest = (given: string | undefined): string => {
  const path = resolve(given ?? '.')
  if (!existsSync(path)) throw new TrihandError('LOAD_FAILED', `${relative('', path) || path} does not exist`)
  if (!statSync(path).isDirectory()) return path
  const file = MANIFEST_FILES.map((name) => join(path, name)).find((candidate) => existsSync(candidate))
  if (file === undefined)
    throw new TrihandError('LOAD_FAILED', `${relative('', path) || 'this folder'} has no ${MANIFEST_FILES[0]}`)
  return file
}

export interface ManifestOnDisk extends LoadedManifest {
  readonly file: string
  readonly paths: readonly string[]
  /** Reads the text of one of them. */
  readonly read: (path: string) => string
}

export const readManifest = (file: string): ManifestOnDisk => {
  const root = join(file, '..')
  const paths = filesBelow(root)
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  const environment = new Set(Object.keys(process.env))
  const loaded = loadManifest(readFileSync(file, 'utf8'), relative('', file) || file, {
    folder: { paths, read },
    environment,
  })
  return { ...loaded, file, paths, read }
}
