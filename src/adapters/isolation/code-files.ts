/**
 * Reads the files of an isolated module and translates TypeScript and ES modules into scripts for its processes.
 *
 * Owns which files of the folder are read. Refuses a link that leads out of it: the permissions of a process would follow the link.
 */
import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, relative, sep } from 'node:path'
import { TrihandError } from '#model/kernel/errors.ts'

export interface CodeFiles {
  /** Real path, with symbolic links resolved. */
  readonly folder: string
  /** Keyed by path relative to the folder, with `/`. */
  readonly files: readonly (readonly [path: string, text: string])[]
}

const MAX_FILES = 2_000
const MAX_BYTES = 16 * 1024 * 1024
const SCRIPT = /\.[cm]?[jt]s$/
const DECLARATION = /\.d\.[cm]?ts$/

const refused = (detail: string): TrihandError => new TrihandError('LOAD_FAILED', detail)

const isInside = (folder: string, path: string): boolean => path === folder || path.startsWith(folder + sep)

class Walk {
  readonly code: string[] = []
  readonly #folder: string
  #entries = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Checks links everywhere; collects code outside of packages only, which are loaded as they are. */
  async enter(path: string, isPackage: boolean): Promise<void> {
    for (const entry of await readdir(path, { withFileTypes: true })) {
      const whole = join(path, entry.name)
      const inPackage = isPackage || entry.name === 'node_modules'
      if (entry.isSymbolicLink()) await this.#checkLink(whole)
      else if (entry.isDirectory()) await this.enter(whole, inPackage)
      else if (!isPackage && (SCRIPT.test(entry.name) || entry.name.endsWith('.json'))) this.#take(whole)
    }
  }

  async #checkLink(path: string): Promise<void> {
    const target = await realpath(path).catch(() => '')
    if (!isInside(this.#folder, target)) throw refused(`${path} is a link to a place outside the folder of its module`)
  }

  #take(path: string): void {
    if (DECLARATION.test(path)) return
    this.#entries += 1
    if (this.#entries > MAX_FILES) throw refused(`${this.#folder} has more than ${MAX_FILES} files of code`)
    this.code.push(path)
  }
}

/** Loaded with the first isolated module. */
const translator = (): ((path: string, source: string) => string) => {
  const { createJiti }: typeof import('jiti') = createRequire(import.meta.url)('jiti')
  const loader = createJiti(import.meta.url, { moduleCache: false, fsCache: false })
  return (path, source) =>
    loader.transform({ source, filename: path, async: true, ts: /\.[cm]?ts$/.test(path), interopDefault: true })
}

export const readCode = async (given: string): Promise<CodeFiles> => {
  const folder = await realpath(given).catch(() => {
    throw refused(`the folder ${given} does not exist; an isolated module needs its own folder`)
  })
  if (!(await lstat(folder)).isDirectory()) throw refused(`${given} is not a folder`)
  const walk = new Walk(folder)
  await walk.enter(folder, false)
  const translate = translator()
  let bytes = 0
  const files: (readonly [string, string])[] = []
  for (const path of walk.code) {
    const source = await readFile(path, 'utf8')
    bytes += source.length
    if (bytes > MAX_BYTES) throw refused(`${given} has more than ${MAX_BYTES} bytes of code`)
    const name = relative(folder, path).split(sep).join('/')
    files.push([name, path.endsWith('.json') ? source : translate(path, source)])
  }
  return { folder, files }
}
