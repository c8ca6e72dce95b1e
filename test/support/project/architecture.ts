/**
 * Checks of our own sources that no linter has: who calls whom, how wide a port is, which invariants a header defines.
 *
 * Owns the reading of source text. Every check takes files as values, so that a test can plant a fault.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

export interface SourceFile {
  readonly path: string
  readonly text: string
}

const SOURCE = /\.(ts|mjs)$/
const PAGE = /\.(tsx|css)$/
const SKIPPED = /(^|\/)node_modules\//

const filesLike = (kind: RegExp, folder: string): readonly SourceFile[] =>
  readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((path) => kind.test(path) && !SKIPPED.test(path))
    .map((path) => ({ path, text: readFileSync(`${ROOT}${path}`, 'utf8') }))

export const filesUnder = (...folders: readonly string[]): readonly SourceFile[] =>
  folders.flatMap((folder) => filesLike(SOURCE, folder))

/** Components and styles of the web app. */
export const pageFiles = (): readonly SourceFile[] => filesLike(PAGE, 'ui')

export const isTest = (file: SourceFile): boolean => file.path.endsWith('.test.ts')
/** Folders of tests whose names do not show it: the conformance suites and everything under test/. */
const isProof = (file: SourceFile): boolean =>
  isTest(file) || file.path.startsWith('test/') || /^src\/testing\/(.*-suite\.ts|[^/]+\/)/.test(file.path)

const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

interface Arrow {
  readonly call: RegExp
  readonly allowed: RegExp
}

/** One file per arrow of the flow, enforced in addition to the types. */
const ARROWS: readonly Arrow[] = [
  { call: /\.decide\(/, allowed: /^src\/(engine\/core\/advance|testing\/spec)\.ts$/ },
  { call: /\.execute\(/, allowed: /^src\/(engine\/core\/perform|testing\/executor-suite)\.ts$/ },
  // Adapters have appends of their own inside; headers and query strings have one too.
  { call: /(?<!headers|params)\.append\(/i, allowed: /^src\/(engine\/core\/commit\.ts|testing\/.*|adapters\/.*)$/ },
]

export const strayArrows = (files: readonly SourceFile[]): readonly string[] =>
  files
    .filter((file) => !isTest(file))
    .flatMap(({ path, text }) =>
      ARROWS.filter(({ call, allowed }) => call.test(withoutComments(text)) && !allowed.test(path)).map(
        ({ call }) => `${path} calls ${call.source}`,
      ),
    )

/** The names declared in `export interface <name> { … }`, written as the formatter writes it. */
export const membersOf = (text: string, name: string): readonly string[] => {
  const body =
    new RegExp(`^export interface ${name} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(withoutComments(text))?.[1] ?? ''
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[(<:]/gm)].map((match) => match[1] ?? '')
}

export const headerOf = (text: string): string => /^\/\*\*[\s\S]*?\*\//.exec(text)?.[0] ?? ''

/** The invariants that a header numbers: `task-1  One decision closes a task.` */
const invariantsOf = (file: SourceFile): readonly string[] =>
  [...headerOf(file.text).matchAll(/^ \* ([a-z][a-z-]*-\d+) {2}/gm)].map((match) => match[1] ?? '')

export const unprovenInvariants = (files: readonly SourceFile[]): readonly string[] => {
  const proofs = files.filter(isProof).map((file) => file.text)
  // Matches whole ids: `tool-guard-1` does not name `guard-1`.
  const isNamed = (id: string): boolean => proofs.some((text) => new RegExp(`(?<![\\w-])${id}(?![\\w-])`).test(text))
  return files
    .filter((file) => !isProof(file))
    .flatMap((file) => invariantsOf(file).map((id) => ({ id, path: file.path })))
    .filter(({ id }) => !isNamed(id))
    .map(({ id, path }) => `${id} of ${path}`)
}

/** Ids that two files define: a test of one would count as proof of the other. */
export const sharedInvariants = (files: readonly SourceFile[]): readonly string[] => {
  const owners = new Map<string, readonly string[]>()
  for (const file of files.filter((one) => !isProof(one)))
    for (const id of invariantsOf(file)) owners.set(id, [...(owners.get(id) ?? []), file.path])
  return [...owners].flatMap(([id, paths]) => (paths.length > 1 ? [`${id} of ${paths.join(' and ')}`] : []))
}

/** The runtime imports of a file, in written order; `early`: without those made on demand. */
const importsOf = (text: string, early: boolean): readonly string[] =>
  [...withoutComments(text).matchAll(/(?:^|[\s;(])(?:import|export)\b(?!\s+type\b)([^'"`;]*?)['"]([^'"\n]+)['"]/g)]
    .filter(([, between = '']) => !early || /^\s*$|^[^(=]*\sfrom\s*$/.test(between))
    .map((match) => match[2] ?? '')

/** The file that an import of ours names, from the root: `#model/…` is a source (`imports` in package.json). */
const pathOf = (from: string, source: string): string => {
  if (source.startsWith('#')) return `src/${source.slice(1)}`
  return source.startsWith('.') ? posix.join(posix.dirname(from), source) : source
}

/** The packages that a program started at `entry` would load, each with the path of files that leads to it. `early`: before it runs. */
export const packagesFrom = (
  files: readonly SourceFile[],
  entry: string,
  { early = false } = {},
): ReadonlyMap<string, string> => {
  const texts = new Map(files.map((file) => [file.path, file.text]))
  const packages = new Map<string, string>()
  const trails = new Map([[entry, entry]])
  for (const [path, trail] of trails) {
    for (const source of importsOf(texts.get(path) ?? '', early)) {
      const target = pathOf(path, source)
      const seen = /^[.#]/.test(source) ? trails : packages
      if (!seen.has(target)) seen.set(target, `${trail} > ${target}`)
    }
  }
  return packages
}

/** The names that an entry exports. */
export const exportedNames = (
  text: string,
): { readonly values: readonly string[]; readonly types: readonly string[] } => {
  const plain = withoutComments(text)
  const listed = [...plain.matchAll(/export (type )?\{([^}]*)\}/g)].flatMap(([, all, list = '']) =>
    list
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map((item) => ({
        isType: all !== undefined || item.startsWith('type '),
        name: item.replace(/^(type |.* as )/, ''),
      })),
  )
  const declared = [...plain.matchAll(/^export (const|function|async function|class|interface|type) (\w+)/gm)].map(
    ([, kind, name = '']) => ({ isType: kind === 'interface' || kind === 'type', name }),
  )
  const names = [...listed, ...declared]
  const namesOf = (isType: boolean): readonly string[] =>
    names.filter((one) => one.isType === isType).map(({ name }) => name)
  return { values: namesOf(false), types: namesOf(true) }
}
