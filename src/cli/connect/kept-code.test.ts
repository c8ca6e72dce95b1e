/** The cache of translated code: written once, used only while it is complete and of the same source. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/places.ts'
import { keptCode } from './kept-code.ts'

let folder: ReturnType<typeof temporaryFolder>
let asked: string[]

beforeEach(() => {
  folder = temporaryFolder('kept')
  asked = []
})
afterEach(() => folder.remove())

/** Like a new process: it shares only the folder. */
const translator = (path = folder.path) =>
  keptCode(path, ({ source }) => {
    asked.push(source)
    return { code: source === 'broken' ? 'exports.__JITI_ERROR__ = {}' : `/* ${source} */` }
  })
const of = (source: string, filename = '/x/system.ts', async = true) => ({ source, filename, async, ts: true })
const fileIn = (path: string): string => join(path, readdirSync(path)[0] ?? '')

test('an unchanged file is translated once for all processes', () => {
  expect(translator()(of('one')).code).toBe('/* one */')
  expect(translator()(of('one')).code).toBe('/* one */')
  expect(asked).toEqual(['one'])
})

test('kept-code-1: changed text, another file and other options are translated again', () => {
  for (const options of [of('one'), of('two'), of('two', '/x/other.ts'), of('two', '/x/system.ts', false)])
    expect(translator()(options).code).toBe(`/* ${options.source} */`)
  expect(asked).toEqual(['one', 'two', 'two', 'two'])
})

test('an edit replaces the cached code of the file: the folder does not grow', () => {
  for (const source of ['one', 'two', 'three']) translator()(of(source))
  expect(readdirSync(folder.path)).toHaveLength(1)
})

test.each([
  ['cut short', (text: string) => text.slice(0, -3)],
  ['changed', (text: string) => text.replace('one', 'two')],
  ['empty', () => ''],
])('kept-code-1: cached code that is %s is not used', (_, damage) => {
  translator()(of('one'))
  const file = fileIn(folder.path)
  writeFileSync(file, damage(readFileSync(file, 'utf8')))
  expect(translator()(of('one')).code).toBe('/* one */')
  expect(asked).toEqual(['one', 'one'])
})

test('a file that does not parse is never cached', () => {
  translator()(of('broken'))
  translator()(of('broken'))
  expect(asked).toEqual(['broken', 'broken'])
})

test('if the cache cannot be written, the code is translated all the same', () => {
  const taken = join(folder.path, 'file')
  writeFileSync(taken, '')
  expect(translator(join(taken, 'cache'))(of('one')).code).toBe('/* one */')
  // kept-code-2: a folder in the place of the final file has the same effect as a full disk.
  translator()(of('two'))
  const [kept = ''] = readdirSync(folder.path).filter((name) => name.endsWith('.js'))
  mkdirSync(join(folder.path, 'other', kept), { recursive: true })
  expect(translator(join(folder.path, 'other'))(of('two')).code).toBe('/* two */')
})
