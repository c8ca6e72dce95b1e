/** Compares the table of settings with the documents and with the code that reads them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SETTINGS, unknownSettings } from '#model/kernel/setting.ts'

const OURS = /\bTRIHAND_[A-Z][A-Z_]*[A-Z]\b/g

const files = (folder: string, suffix: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(suffix))
    .map((entry) => join(entry.parentPath, entry.name))

const textOf = (paths: readonly string[]): string => paths.map((path) => readFileSync(path, 'utf8')).join('\n')
const isKnown = (name: string): boolean => unknownSettings({ [name]: '' }) === null
const namesIn = (text: string): readonly string[] => [...new Set(text.match(OURS) ?? [])]

/** Decision records describe the past. */
const documents = textOf([
  ...files('docs', '.md').filter((path) => !path.includes('decisions')),
  ...['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md'],
])
const code = textOf(
  files('src', '.ts').filter((path) => !path.endsWith('.test.ts') && !path.endsWith('model/kernel/setting.ts')),
)
/** Names that the code composes of a prefix and a suffix. */
const COMPOSED = /^TRIHAND_DISPATCHER_/

test('[I5] every setting is documented, and every documented setting exists (13.2.6)', () => {
  const own = SETTINGS.filter(({ reader }) => reader !== 'tests')
  expect(own.filter(({ name }) => !documents.includes(`\`${name}\``)).map(({ name }) => name)).toEqual([])
  expect(namesIn(documents).filter((name) => !isKnown(name))).toEqual([])
})

test('every setting that the code reads is in the table, and the code reads every setting of the table', () => {
  expect(namesIn(code).filter((name) => !isKnown(name))).toEqual([])
  const own = SETTINGS.filter(({ name, reader }) => reader !== 'tests' && name.startsWith('TRIHAND_'))
  expect(own.filter(({ name }) => !code.includes(name) && !COMPOSED.test(name)).map(({ name }) => name)).toEqual([])
})
