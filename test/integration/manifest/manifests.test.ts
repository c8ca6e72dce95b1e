/**
 * Ten manifests of ten businesses in ten styles: lists and maps, long and short, camelCase, JSON, quoted, sorted, with anchors. All load
 * without an error, can be drawn and printed without a change of meaning, and are simulated: everything is reached, or a reason is given.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROJECT } from '#test/support/places.ts'
import { buildCommand, Folder } from '#test/support/serving/command.ts'

const FIXTURES = join(PROJECT, 'test/fixtures/manifests')
const PARTS = ['events', 'handlers', 'actions', 'routes', 'states'] as const

let folder: Folder
beforeAll(() => {
  buildCommand()
  folder = new Folder({})
})
afterAll(() => folder.remove())

/** Reached events, handlers, actions, routes and states; and the unreached ones, with their reasons. */
// biome-ignore format: one manifest per row
const MANIFESTS: readonly (readonly [name: string, reached: readonly number[], missed: readonly string[]])[] = [
  ['bike-rental', [25, 22, 4, 6, 15], []],
  ['claims', [21, 20, 6, 0, 9], []],
  ['clinic', [26, 22, 8, 0, 10], []],
  ['energy', [28, 24, 4, 3, 10], ['fault.unknown: sort-fault did not reach it']],
  ['invoices', [29, 19, 7, 5, 11], []],
  ['newsroom', [23, 22, 4, 2, 11], []],
  ['outreach', [24, 20, 3, 4, 10], []],
  ['school-trips', [29, 26, 10, 0, 11], []],
  ['support', [24, 21, 7, 4, 6], ['disabled-one: it is switched off']],
  ['warehouse', [31, 22, 3, 4, 17], []],
]

test('there are ten, each of 500 to 3,000 lines (15.1.2)', () => {
  const files = readdirSync(FIXTURES).filter((name) => name.endsWith('.yaml'))
  expect(files).toEqual(MANIFESTS.map(([name]) => `${name}.yaml`))
  expect(files.length).toBe(10)
  for (const file of files) {
    const lines = readFileSync(join(FIXTURES, file), 'utf8').split('\n').length
    expect([file, lines >= 500 && lines <= 3_000]).toEqual([file, true])
  }
})

test.each(MANIFESTS)(
  '%s loads, is drawn, keeps its meaning when printed, and a simulation reaches everything or gives a reason (15.1.2)',
  async (name, reached, missed) => {
    const text = readFileSync(join(FIXTURES, `${name}.yaml`), 'utf8')
    folder.write('manifest.yaml', text)
    expect((await folder.json(['manifest', 'validate'])).errors).toEqual([])
    expect((await folder.run(['manifest', 'graph'])).stdout).toMatch(/^flowchart LR\n/)
    const { stdout } = await folder.run(['simulate', '--json'])
    const played = JSON.parse(stdout)
    expect(played.failures).toEqual([])
    expect(PARTS.map((part) => played[part].reached.length)).toEqual(reached)
    expect(
      PARTS.flatMap((part) =>
        played[part].missed.map((one: { name: string; why: string }) => `${one.name}: ${one.why}`),
      ),
    ).toEqual(missed)
    const long = await folder.json(['manifest', 'print'])
    folder.write('manifest.yaml', (await folder.run(['manifest', 'print'])).stdout)
    expect(await folder.json(['manifest', 'print'])).toEqual(long)
  },
)
