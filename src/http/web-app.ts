/**
 * The files of the web app, as the build wrote them beside the program.
 *
 * Owns their location and media types. Never opens a path from a request: the list of files is read once.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface WebFile {
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** True if its name contains a hash of its content. */
  readonly isImmutable: boolean
}

export interface WebApp {
  readonly index: string
  /** By path under the root of the server: `/assets/index-1a2b.js`. */
  readonly files: ReadonlyMap<string, WebFile>
}

/** Where the build puts them: the folder `dist/ui` of the package, beside the folders of the programs. */
export const WEB_APP = fileURLToPath(new URL('../ui', import.meta.url))

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/** Null if the folder has no web app: the checkout was not built. */
export const readWebApp = (folder: string): WebApp | null => {
  const index = join(folder, 'index.html')
  if (!existsSync(index)) return null
  const files = new Map<string, WebFile>()
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = TYPES[extname(name)]
    if (type === undefined) continue
    const path = `/${name.replaceAll('\\', '/')}`
    files.set(path, {
      type,
      bytes: new Uint8Array(readFileSync(join(folder, name))),
      isImmutable: path.startsWith('/assets/'),
    })
  }
  return { index: readFileSync(index, 'utf8'), files }
}
