/**
 * Finds the entry points of the product that a test uses, from the files that it loads. A feature is proved where users meet it, not in an
 * internal class.
 *
 * Owns the list of entry points. Follows imports only through test helpers.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** In the order in which they are printed. */
const DOORS = [
  {
    door: 'manifest',
    module: /^src\/(manifest\/yaml\/|cli\/manifest\/load-(system|manifest)\.ts)/,
    text: /manifest\.ya?ml/,
  },
  { door: 'TypeScript', module: /^src\/(testing\/(system|test-system)|compose\/assemble|index)\.ts$/ },
  { door: 'HTTP', module: /^src\/http\/(server\/(app|worker-app)|client\/client)\.ts$/ },
  { door: 'command line', module: /^(test\/support\/serving\/command|src\/cli\/main)\.ts$/ },
  { door: 'page', module: /^test\/support\/serving\/browser\.ts$/ },
]

/** `#model/…` names a source, `#test/…` a test (`imports` in package.json). */
const pathOf = (from, source) => {
  if (!source.startsWith('#')) return posix.join(dirname(from), source)
  return source.startsWith('#test/') ? source.slice(1) : `src/${source.slice(1)}`
}

/** Runtime imports, as paths from the root. */
const importsOf = (path, text) =>
  [
    ...text.matchAll(/(?:^|[\s;(])(?:import|export)\b(?!\s+type\b)(?:[^'"`;]*?\bfrom)?[\s(]*['"]([.#][^'"\n]+)['"]/g),
  ].map(([, source]) => pathOf(path, source))

const filesBehind = (path, seen = new Map()) => {
  if (seen.has(path) || !existsSync(join(ROOT, path))) return seen
  const text = readFileSync(join(ROOT, path), 'utf8')
  const imports = importsOf(path, text)
  seen.set(path, { text, imports })
  for (const next of imports) if (next.startsWith('test/')) filesBehind(next, seen)
  return seen
}

/** Returns the names of the entry points for a path like `test/acceptance/flow/flow.test.ts`. */
export const doorsOf = (path) => {
  const files = [...filesBehind(path)]
  const loaded = new Set(files.flatMap(([name, { imports }]) => [name, ...imports]))
  return DOORS.filter(
    ({ module, text }) =>
      [...loaded].some((name) => module.test(name)) ||
      (text !== undefined && files.some(([name, file]) => name === path && text.test(file.text))),
  ).map(({ door }) => door)
}

export const doorNames = DOORS.map(({ door }) => door)
