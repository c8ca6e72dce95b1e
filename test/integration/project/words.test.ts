/** The words of the code: no exported name uses a private noun, and each word of the glossary is defined once, where the glossary says. */
import { describe, expect, test } from 'vitest'
import { filesUnder, isTest, pageFiles } from '#test/support/project/architecture.ts'
import { glossaryIn, misusedWords, privateNames, readGlossary, wordsOf } from '#test/support/project/words.ts'

const sources = filesUnder('src').filter((file) => !isTest(file))
const file = (path: string, text: string) => ({ path, text })

/** `cli/verify` judges the ledger with types of its own, and the printed types of the wire are for clients. */
const ours = sources.filter(({ path }) => !path.startsWith('src/cli/verify/') && path !== 'src/http/openapi/api.ts')

describe('exported names', () => {
  test('use no private noun', () => {
    expect(privateNames([...sources, ...pageFiles()])).toEqual([])
  })

  test.each(['export class RunDesk {', 'export const demandRun = 1', 'export interface StepPerformance {'])(
    'a private noun is found in: %s',
    (text) => {
      expect(privateNames([file('src/a.ts', text)])).toHaveLength(1)
    },
  )

  test.each(['export const handlerOf = 1', 'export class Performer {', 'const desk = 1'])('%s is fine', (text) => {
    expect(privateNames([file('src/a.ts', text)])).toEqual([])
  })

  test('are taken apart into words', () => {
    expect(wordsOf('SealedFact')).toEqual(['sealed', 'fact'])
    expect(wordsOf('MAX_TEXT')).toEqual(['max', 'text'])
    expect(wordsOf('parseJSONText2')).toEqual(['parse', 'json', 'text', '2'])
  })
})

describe('the glossary of ARCHITECTURE.md', () => {
  const rows = readGlossary()

  test('has at most 25 words', () => {
    expect(rows.length).toBeGreaterThan(15)
    expect(rows.length).toBeLessThanOrEqual(25)
  })

  test('says of each word where it is defined, and no other file defines it again', () => {
    expect(misusedWords(rows, ours)).toEqual([])
  })

  test('a word that moved, lost its member or has a second definition is found', () => {
    const [row] = glossaryIn('| **wake** | a hint | `ports/dispatcher.ts` `Dispatcher.wake` |')
    if (row === undefined) throw new Error('the row was not read')
    const home = file('src/ports/dispatcher.ts', 'export interface Dispatcher {\n  wake(run: RunId): void\n}\n')
    expect(misusedWords([row], [home])).toEqual([])
    expect(misusedWords([row], [])).toEqual(['wake: src/ports/dispatcher.ts does not export Dispatcher'])
    const bare = file(home.path, 'export interface Dispatcher {\n  start(): void\n}\n')
    expect(misusedWords([row], [bare])).toEqual(['wake: Dispatcher has no wake'])
    const twin = file('src/engine/wakes.ts', 'export class Dispatcher {')
    expect(misusedWords([row], [home, twin])).toEqual(['wake: src/engine/wakes.ts exports another Dispatcher'])
  })
})
