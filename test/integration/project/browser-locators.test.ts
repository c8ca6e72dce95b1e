/** How browser tests locate elements. A partial name also matches longer names, so its result depends on what is drawn at that moment. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT } from '#test/support/places.ts'

const FOLDER = join(PROJECT, 'test/browser')
const QUOTED = String.raw`(?:'(?:[^'\\]|\\.)*'|\x60[^\x60]*\x60)`

/** Partial names, and the last of several matches: both depend on what is already drawn. A partial name must be written as a pattern. */
const BY_CHANCE = [
  new RegExp(String.raw`getBy(?:Text|Placeholder)\(${QUOTED}\)`, 'g'),
  new RegExp(String.raw`getByRole\(${QUOTED}, \{(?:[^}]*, )? ?name: ${QUOTED} \}\)`, 'g'),
  // Also across the lines of a formatted call chain.
  /\)\s*\.last\(\)\s*\.(?:click|fill|waitFor)\(/g,
  // A label matches by any part of it, and a whole page may have two matches.
  new RegExp(String.raw`\b(?:page|one|two|tab)\.getBy(?:Label|Title|AltText)\(${QUOTED}\)`, 'g'),
]

/** Neither elapsed time nor an idle network proves that the element is there. */
const NO_SIGNS = /waitForTimeout\(|networkidle|waitForLoadState\(|waitForSelector\(/g

test('browser tests locate elements by whole texts and names, or by a pattern (13.0)', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.test.ts'))
  const found = files.flatMap((name) => {
    const text = readFileSync(join(FOLDER, name), 'utf8')
    return BY_CHANCE.flatMap((pattern) => [...text.matchAll(pattern)].map(([locator]) => `${name}: ${locator}`))
  })
  expect(files.length).toBeGreaterThan(15)
  expect(found).toEqual([])
})

test('no browser test waits for time or an idle network, and each unreliable locator is found (15.4.1)', () => {
  const places = [
    ...readdirSync(FOLDER).map((name) => join(FOLDER, name)),
    join(PROJECT, 'test/support/serving/browser.ts'),
  ]
  const waits = places.flatMap((path) => readFileSync(path, 'utf8').match(NO_SIGNS) ?? [])
  expect(waits).toEqual([])
  const faults = [
    "page.getByText('Approve')",
    "page.getByRole('button', { name: 'Approve' })",
    "page.getByRole('row')\n    .last()\n    .click()",
    "one.getByLabel('amount')",
  ]
  const unseen = faults.filter((fault) => !BY_CHANCE.some((pattern) => fault.search(pattern) >= 0))
  expect(unseen).toEqual([])
  expect('await page.waitForTimeout(500)'.search(NO_SIGNS)).toBeGreaterThan(0)
})
