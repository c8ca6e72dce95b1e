/**
 * Joins compiled modules into few files, so that a process starts in half the time: a start is mostly the opening of files.
 *
 * Owns which modules stay apart: entries, and what is imported on demand. Packages and Node's own are left as imports.
 */
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { rolldown } from 'rolldown'

/** Two levels below the package, as the modules were: what is found relative to a module stays where it was. */
const CHUNKS = 'chunks/[name]-[hash].js'

const isPackage = (id) => !id.startsWith('.') && !id.startsWith('/') && !/^[A-Za-z]:\\/.test(id)

/** What a module imports before it runs. */
const importsOf = (text) => [...text.matchAll(/^(?:import|export)\b[^'"=(]*?['"]([^'"]+)['"]/gm)].map(([, id]) => id)

/** Every module that these load before they run. */
const loadedBy = (files, seen = new Set()) => {
  for (const file of files.filter((name) => !seen.has(name))) {
    seen.add(file)
    const own = importsOf(readFileSync(file, 'utf8')).filter((id) => !isPackage(id))
    loadedBy(
      own.map((id) => resolve(dirname(file), id)),
      seen,
    )
  }
  return seen
}

/** What opens a SQLite ledger is needed at almost every start: one chunk of what all load, one of the rest. */
const groupsOf = (folder) => {
  const find = (...names) =>
    modulesIn(folder)
      .filter((name) => names.some((end) => name.endsWith(end)))
      .map((name) => realpathSync(join(folder, name)))
  const always = loadedBy(find('assemble.js'))
  const sqlite = loadedBy(find('adapters/sqlite/open.js', 'adapters/sqlite/sqlite-thread.js'))
  return [
    { name: 'base', test: (id) => sqlite.has(id) && always.has(id) },
    { name: 'sqlite', test: (id) => sqlite.has(id) && !always.has(id) && !id.endsWith('sqlite-thread.js') },
  ]
}

/** One letter beyond Latin makes V8 keep and read a whole file in two bytes per letter. In code an escape means the same. */
const inAscii = (code) =>
  code.replace(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)

const modulesIn = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'))

/** What runs as a thread stands beside the chunk that starts it, as its module stood beside that module. */
const THREADS = ['sqlite-thread', 'manifest-thread']

/** Writes the entries (paths without `.js`) of one folder and their chunks into another, which may be the same. */
export const bundle = async (from, entries, to = from) => {
  const input = Object.fromEntries(entries.map((entry) => [entry, join(from, `${entry}.js`)]))
  for (const thread of THREADS) {
    const module = modulesIn(from).find((name) => basename(name) === `${thread}.js`)
    input[`chunks/${thread}`] = join(from, module)
  }
  const build = await rolldown({ input, external: isPackage, platform: 'node' })
  const { output } = await build.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: CHUNKS,
    codeSplitting: { groups: groupsOf(from) },
  })
  await build.close()
  if (to === from) for (const name of modulesIn(from)) rmSync(join(from, name))
  for (const { fileName, code } of output) {
    mkdirSync(dirname(join(to, fileName)), { recursive: true })
    writeFileSync(join(to, fileName), inAscii(code))
  }
}
