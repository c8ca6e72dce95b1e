/** How tests in a browser find what they look for. A name that is part of another name finds both, once both are drawn. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT } from '../support/places.ts'

const FOLDER = join(PROJECT, 'test/browser')
const QUOTED = String.raw`(?:'(?:[^'\\]|\\.)*'|\x60[^\x60]*\x60)`

/** Parts of names, and the last of several: both depend on what is drawn already. A part is written as a pattern. */
const BY_CHANCE = [
  new RegExp(String.raw`getBy(?:Text|Placeholder)\(${QUOTED}\)`, 'g'),
  new RegExp(String.raw`getByRole\(${QUOTED}, \{(?:[^}]*, )? ?name: ${QUOTED} \}\)`, 'g'),
  /\)\.last\(\)\.(?:click|fill|waitFor)\(/g,
]

test('every text and name that a browser test looks for is a whole one, or a pattern (13.0)', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.test.ts'))
  const found = files.flatMap((name) => {
    const text = readFileSync(join(FOLDER, name), 'utf8')
    return BY_CHANCE.flatMap((pattern) => [...text.matchAll(pattern)].map(([locator]) => `${name}: ${locator}`))
  })
  expect(files.length).toBeGreaterThan(15)
  expect(found).toEqual([])
})
