/**
 * Joins compiled modules into few files, so that a process starts in half the time: a start is mostly the opening of files.
 *
 * Owns which modules stay apart: entries, and what is imported on demand. Packages and Node's own are left as imports.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { rolldown } from 'rolldown'

/** Two levels below the package, as the modules were: what is found relative to a module stays where it was. */
const CHUNKS = 'chunks/[name]-[hash].js'

const isPackage = (id) => !id.startsWith('.') && !id.startsWith('/') && !/^[A-Za-z]:\\/.test(id)

const modulesIn = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'))

/** What runs as a thread stands beside the chunk that starts it, as its module stood beside that module. */
const THREAD = 'sqlite-thread'

/** Writes the entries (paths without `.js`) of one folder and their chunks into another, which may be the same. */
export const bundle = async (from, entries, to = from) => {
  const input = Object.fromEntries(entries.map((entry) => [entry, join(from, `${entry}.js`)]))
  const thread = modulesIn(from).find((name) => basename(name) === `${THREAD}.js`)
  input[`chunks/${THREAD}`] = join(from, thread)
  const build = await rolldown({ input, external: isPackage, platform: 'node' })
  const { output } = await build.generate({ format: 'esm', entryFileNames: '[name].js', chunkFileNames: CHUNKS })
  await build.close()
  if (to === from) for (const name of modulesIn(from)) rmSync(join(from, name))
  for (const { fileName, code } of output) {
    mkdirSync(dirname(join(to, fileName)), { recursive: true })
    writeFileSync(join(to, fileName), code)
  }
}
