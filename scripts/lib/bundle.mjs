/**
 * Bundles compiled modules into few files, which halves the start time of a process: opening files takes most of it.
 *
 * Owns which modules stay separate: entries, and modules imported on demand. Packages and Node's own modules stay imports.
 */
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { rolldown } from 'rolldown'

/** Two levels below the package, like the modules: a path relative to a module stays the same. */
const CHUNKS = 'chunks/[name]-[hash].js'

const isPackage = (id) => !id.startsWith('.') && !id.startsWith('/') && !/^[A-Za-z]:\\/.test(id)

/** Modules that a module imports statically. */
const importsOf = (text) => [...text.matchAll(/^(?:import|export)\b[^'"=(]*?['"]([^'"]+)['"]/gm)].map(([, id]) => id)

/** Our modules that a module imports on demand. */
const onDemandIn = (file) =>
  [...readFileSync(file, 'utf8').matchAll(/\bimport\(['"](\.[^'"]+)['"]\)/g)].map(([, id]) =>
    resolve(dirname(file), id),
  )

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

/**
 * Modules that every start loads go into few chunks, even if others load parts of them: each file costs a start about a millisecond.
 * `base`: what a SQLite ledger needs, also in its thread. `shared`: what is also loaded without a ledger, by `manifest` and on demand.
 * The command line keeps the few small modules that it loads before it knows its verb.
 */
const groupsOf = (folder) => {
  const modules = modulesIn(folder)
  const find = (...names) =>
    modules.filter((name) => names.some((end) => name.endsWith(end))).map((name) => realpathSync(join(folder, name)))
  const always = loadedBy(find('compose/assemble.js'))
  const sqlite = loadedBy(find('adapters/storage/sqlite/open.js', 'sqlite/thread/sqlite-thread.js'))
  const command = loadedBy(find('cli/main.js'))
  const [whole] = find('compose/assemble.js')
  const elsewhere = new Set(
    modules
      .flatMap((name) => onDemandIn(realpathSync(join(folder, name))))
      .map((file) => loadedBy([file]))
      .filter((loaded) => !loaded.has(whole))
      .flatMap((loaded) => [...loaded]),
  )
  return [
    { name: 'base', test: (id) => sqlite.has(id) && always.has(id) },
    { name: 'sqlite', test: (id) => sqlite.has(id) && !always.has(id) && !id.endsWith('sqlite-thread.js') },
    { name: 'shared', test: (id) => always.has(id) && elsewhere.has(id) && !command.has(id) },
  ]
}

/** V8 stores a whole file in two bytes per letter if one letter is outside Latin-1, so such letters in code become escapes. */
const inAscii = (code) =>
  code.replace(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)

const modulesIn = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'))

/** Thread entries stay beside the chunk that starts them, as their modules were beside that module. */
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
