/** Stubs for the code that a manifest lacks: they type-check, they run, and existing files are not touched. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { PROJECT } from '#test/support/places.ts'
import { buildCommand, Folder } from '#test/support/serving/command.ts'
import { until } from '#test/support/until.ts'

const MANIFEST = `product: {name: shop}
events:
  - {name: order.placed, source: external, schema: OrderSchema}
  - {name: order.scored, payload: {id: string!, score: {type: integer, min: 1, max: 9, required: true}}}
  - {name: order.packed, terminal: true, payload: {box: string!}}
functions:
  - name: score
    description: Scores an order
    trigger: order.placed
    emits: order.scored
    steps: [{name: look, action: Look at it, on_failure: skip it}]
  - {name: pack, trigger: order.scored, emits: [{event: order.packed, when: output.box != ""}], output_schema: {type: object, properties: {box: {type: string}}, required: [box]}}
  - {name: ship, handler: lib/ship.ts#shipIt, trigger: order.packed}
  - {name: kept, trigger: order.packed}
agents:
  - {name: judge, description: Judges orders, triggers: [order.scored], output_schema: schemas/verdict.ts#Verdict}
`
const KEPT = 'export default async () => 7\n'

let folder: Folder
beforeAll(buildCommand)
beforeEach(() => {
  folder = new Folder({ 'manifest.yaml': MANIFEST, 'functions/kept.ts': KEPT })
  mkdirSync(join(folder.path, 'node_modules'))
  symlinkSync(PROJECT, join(folder.path, 'node_modules/trihand'))
})
afterEach(() => folder.remove())

const EXPECTED = [
  'functions/score.ts',
  'functions/pack.ts',
  'lib/ship.ts',
  'agents/judge/CLAUDE.md',
  'scripts/judge.yaml',
  'schemas/OrderSchema.json',
  'schemas/verdict.ts',
  'trihand.d.ts',
]

test('stubs are written for missing code, type-check, and the system runs; a second call writes nothing (15.1.5)', async () => {
  const listed = await folder.json(['manifest', 'stubs', '--dry-run'])
  expect(listed).toEqual({ written: EXPECTED, dry_run: true })
  expect(existsSync(join(folder.path, 'functions/score.ts'))).toBe(false)
  expect((await folder.json(['manifest', 'stubs'])).written).toEqual(EXPECTED)
  expect(readFileSync(join(folder.path, 'functions/kept.ts'), 'utf8')).toBe(KEPT)
  expect((await folder.json(['manifest', 'stubs'])).written).toEqual([])
  expect((await folder.json(['manifest', 'validate'])).warnings).toEqual([])
  await folder.serve(['dev', '--port', '0'])
  await folder.json(['send', 'order.placed', '{"id":"a"}'])
  const ended = async (): Promise<readonly string[]> => {
    const { items } = await folder.json(['runs', 'list'])
    return items.map(({ handler, status }: { handler: string; status: string }) => `${handler} ${status}`).sort()
  }
  const all = ['judge success', 'kept success', 'pack success', 'score success', 'ship success']
  const isOver = (runs: readonly string[]): boolean =>
    runs.length >= all.length && runs.every((run) => /success|failed/.test(run))
  expect(await until(ended, isOver, { timeoutMs: 30_000, what: 'all runs end' })).toEqual(all)
  const files = EXPECTED.filter((path) => path.endsWith('.ts')).map((path) => join(folder.path, path))
  const options = ['--noEmit', '--strict', '--ignoreConfig', '--skipLibCheck', '--module', 'nodenext']
  const { stdout } = spawnSync(join(PROJECT, 'node_modules/.bin/tsc'), [...options, ...files], { encoding: 'utf8' })
  expect(stdout).toBe('')
})

test('stubs stay inside the folder, and a manifest that does not load gets none (15.1.5)', async () => {
  folder.write('manifest.yaml', 'product: {name: s}\nfunctions: [{name: f, handler: ../f.ts}]\n')
  const { code, stderr } = await folder.run(['manifest', 'stubs'])
  expect([code, stderr]).toEqual([4, expect.stringContaining('PATH_ESCAPE')])
})
