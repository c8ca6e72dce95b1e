/** The words of the code: what each exported name is made of, and where the glossary of ARCHITECTURE.md says that a word is defined. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, type SourceFile } from './architecture.ts'

/** Private nouns that the code once used. A name of the field replaced each. */
const OLD_WORDS = new Set([
  ...[
    'house',
    'clerk',
    'clerks',
    'duty',
    'duties',
    'resident',
    'residents',
    'luggage',
    'keeper',
    'keeping',
    'departure',
  ],
  ...['births', 'nudge', 'nudges', 'doubt', 'doubted', 'patience', 'insist', 'rhythm', 'shares', 'standing', 'few'],
  ...['performance', 'performed', 'hearer', 'heard', 'told', 'tell', 'tells', 'telling', 'courier', 'carried', 'desk'],
  ...['wish', 'wishes', 'hand', 'hands', 'door', 'doors', 'speak', 'stops', 'demand', 'delta', 'deltas', 'piece'],
  ...['whoever', 'nobody', 'somebody'],
])

const EXPORTED = /^export (?:default )?(?:abstract )?(?:async )?(?:const|function\*?|class|interface|type|enum) (\w+)/gm

/** `SealedFact` is made of `sealed` and `fact`, `MAX_TEXT` of `max` and `text`. */
export const wordsOf = (name: string): readonly string[] =>
  (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []).map((word) => word.toLowerCase())

const exportsOf = ({ text }: SourceFile): readonly string[] =>
  [...text.matchAll(EXPORTED)].map(([, name]) => name as string)

/** Exported names that use a word of the old list. */
export const privateNames = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap((file) =>
    exportsOf(file)
      .filter((name) => wordsOf(name).some((word) => OLD_WORDS.has(word)))
      .map((name) => `${name} in ${file.path}`),
  )

export interface GlossaryRow {
  readonly word: string
  readonly path: string
  /** An exported name, or a member of one: `Append.signals`. */
  readonly name: string
}

const ROW = /^\| \*\*([a-z]+)\*\* \| .+ \| `([\w/.-]+)` `([\w.]+)` \|$/gm

export const glossaryIn = (text: string): readonly GlossaryRow[] =>
  [...text.matchAll(ROW)].map(([, word, path, name]) => ({
    word: word as string,
    path: `src/${path}`,
    name: name as string,
  }))

export const readGlossary = (): readonly GlossaryRow[] =>
  glossaryIn(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'))

/** Rows whose name is not defined in their file, or is also defined in another one with another meaning. */
export const misusedWords = (rows: readonly GlossaryRow[], files: readonly SourceFile[]): readonly string[] =>
  rows.flatMap(({ word, path, name }) => {
    const [type = '', member] = name.split('.')
    const homes = files.filter((file) => exportsOf(file).includes(type))
    const home = homes.find((file) => file.path === path)
    if (home === undefined) return [`${word}: ${path} does not export ${type}`]
    if (member !== undefined && !new RegExp(`^ {2}(readonly )?${member}[(:]`, 'm').test(home.text))
      return [`${word}: ${type} has no ${member}`]
    return homes.filter((file) => file !== home).map((file) => `${word}: ${file.path} exports another ${type}`)
  })
