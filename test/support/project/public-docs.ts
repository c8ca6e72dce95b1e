/**
 * Which public names, and which of their members, have no doc comment.
 *
 * Reads the text of an entry, of the files that it names, and of what their interfaces extend. Members of members are not looked at.
 */
import { posix } from 'node:path'

interface File {
  readonly path: string
  readonly text: string
}

type Named = readonly [name: string, path: string]

const NAMED_FROM = /(?:import|export) (?:type )?\{([^}]*)\} from '([^']+)'/g
const OWN = /^export (?:const|class|interface|type) (\w+)/gm
const MEMBER = /^ {2}(?:readonly )?(?:get )?(\w+)\??(?:<[^(]*>)?[:(]/

/** Printed from the API's description, by a program (`npm run api`). */
const PRINTED = 'src/http/openapi/api.ts'

const fileOf = (from: string, source: string): string =>
  source.startsWith('#') ? `src/${source.slice(1)}` : posix.join(posix.dirname(from), source)

const namesIn = (list: string): readonly string[] =>
  list
    .split(',')
    .map((item) =>
      item
        .trim()
        .replace(/^type /, '')
        .replace(/ as .*$/, ''),
    )
    .filter((name) => name !== '')

/** The names that a text takes from other files, each with its file. */
const takenIn = (path: string, text: string, word: 'import' | 'export'): readonly Named[] =>
  [...text.matchAll(NAMED_FROM)]
    .filter(([all]) => all.startsWith(word))
    .flatMap(([, list = '', source = '']) => namesIn(list).map((name) => [name, fileOf(path, source)] as const))

const declarationIn = (lines: readonly string[], name: string): number =>
  lines.findIndex((line) => new RegExp(`^(?:export )?(?:const|class|interface|type) ${name}\\b`).test(line))

/** True if the line before this one ends a comment. */
const isExplained = (lines: readonly string[], at: number): boolean => lines[at - 1]?.trim().endsWith('*/') === true

/** The declaration that begins at a line, up to its last line, and where its members begin. */
const partsOf = (lines: readonly string[], start: number) => {
  const open = lines.findIndex((line, at) => at >= start && line.endsWith('{'))
  const end = lines.findIndex((line, at) => at > start && /^\}/.test(line))
  return { open, end, header: lines.slice(start, open + 1).join(' ') }
}

/** `Name` or `Name.member` of what an entry exports, for each one without a comment. */
export const unexplained = (files: readonly File[], entry: string): readonly string[] => {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  const seen = new Set<string>()
  const look = ([name, path]: Named): readonly string[] => {
    const text = texts.get(path) ?? ''
    const lines = text.split('\n')
    const start = declarationIn(lines, name)
    if (start < 0 || path === PRINTED || seen.has(`${path} ${name}`)) return []
    seen.add(`${path} ${name}`)
    const own = isExplained(lines, start) ? [] : [name]
    if (!/^(?:export )?(?:interface|class) /.test(lines[start] ?? '')) return own
    const { open, end, header } = partsOf(lines, start)
    const members = lines.slice(open + 1, end).flatMap((line, n) => {
      const [, member = 'constructor'] = MEMBER.exec(line) ?? []
      return member === 'constructor' || isExplained(lines, open + 1 + n) ? [] : [`${name}.${member}`]
    })
    const imported = new Map(takenIn(path, text, 'import'))
    const parents = [...(header.split(' extends ')[1] ?? '').matchAll(/\b[A-Z]\w+/g)].map(([parent]) => parent)
    return [...own, ...members, ...parents.flatMap((parent) => look([parent, imported.get(parent) ?? path]))]
  }
  const text = texts.get(entry) ?? ''
  const declared = [...text.matchAll(OWN)].map(([, name = '']) => [name, entry] as const)
  return [...declared, ...takenIn(entry, text, 'export')].flatMap(look)
}
