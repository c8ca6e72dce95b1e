/** Files that a manifest names: schemas in every common form of export, and the findings for missing files, all at once. */
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PROJECT } from '#test/support/places.ts'
import { buildCommand, Folder } from '#test/support/serving/command.ts'

let folder: Folder
beforeAll(buildCommand)
beforeEach(() => {
  folder = new Folder({})
})
afterEach(() => folder.remove())

/** A schema without a library: callable and with methods, as ArkType makes them, or a plain record, as Valibot does. */
const STANDARD = `const standard = {
  version: 1, vendor: 'own',
  validate: (value) => typeof value?.id === 'string' ? { value } : { issues: [{ message: 'expected an id', path: ['id'] }] },
  jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
}
`
const ZOD = "import { z } from 'zod'\n"
const SCHEMA = "z.object({ id: z.string('expected an id') })"

// biome-ignore format: one way to export it per row
const EXPORTED = [
  ['a default-exported Zod schema', 'zod', { 'zod.ts': `${ZOD}export default ${SCHEMA}\n` }],
  ['a default export that is callable, like one of ArkType', 'ark', { 'ark.ts': `${STANDARD}export default Object.assign(() => 1, { '~standard': standard, default: () => 'a value' })\n` }],
  ['a default export that is a record, like one of Valibot', 'val', { 'val.ts': `${STANDARD}export default { '~standard': standard, default: undefined }\n` }],
  ['a default export that another file passes on', 'passed', { 'passed.ts': "import Order from './deep/order.ts'\nexport default Order\n", 'deep/order.ts': `${ZOD}export default ${SCHEMA}\n` }],
  ['the only export, by the path of its file', './schemas/only.ts', { 'only.ts': `${ZOD}export const AnyName = ${SCHEMA}\nexport const version = 3\n` }],
  ['one of several exports, by path and name', 'schemas/several.ts#Order', { 'several.ts': `${ZOD}export const Order = ${SCHEMA}\nexport const Other = z.string()\n` }],
  ['an export, by its name alone', 'OrderSchema', { 'by-name.ts': `${ZOD}const it = ${SCHEMA}\nexport { it as OrderSchema }\n` }],
  ['a module of CommonJS', 'common', { 'common.js': `const { z } = require('zod')\nmodule.exports = ${SCHEMA}\n` }],
] as const

const eventOf = (i: number): string => `order.placed_${i}`
const ALL = `product: {name: shop}
events:
${EXPORTED.map(([, reference], i) => `  - {name: ${eventOf(i)}, source: external, terminal: true, schema: "${reference}"}`).join('\n')}
`

describe('a schema in a file', () => {
  let all: Folder
  beforeAll(() => {
    const files = EXPORTED.flatMap(([, , own]) => Object.entries(own))
    all = new Folder(Object.fromEntries(files.map(([name, text]) => [`schemas/${name}`, text])))
    all.write('manifest.yaml', ALL)
    symlinkSync(join(PROJECT, 'node_modules'), join(all.path, 'node_modules'))
  })
  afterAll(() => all.remove())

  test('validate finds every form of export, and matching data is accepted (15.1.1)', async () => {
    expect((await all.json(['manifest', 'validate'])).warnings).toEqual([])
    expect((await all.run(['send', eventOf(0), '{"id":"a"}'])).code).toBe(0)
  })

  test.each(EXPORTED.map(([title], i) => [title, i] as const))(
    '%s is loaded, and refuses wrong data (15.1.1)',
    async (_, i) => {
      const { code, stderr } = await all.run(['send', eventOf(i), '{"id":7}'])
      expect([code, stderr]).toEqual([4, expect.stringContaining('/id: expected an id')])
    },
  )

  test('several exports without a name are an error that lists them (15.1.1)', async () => {
    folder.write('manifest.yaml', 'product: {name: shop}\nevents: [{name: order.placed, schema: schemas/order.ts}]\n')
    folder.write(
      'schemas/order.ts',
      `${STANDARD}export const Order = { '~standard': standard }\nexport const Other = Order\n`,
    )
    const { code, stderr } = await folder.run(['send', 'order.placed', '{"id":"a"}'])
    expect([code, stderr]).toEqual([4, expect.stringContaining('schemas/order.ts#Order (Order, Other)')])
  })
})

const BROKEN = `product: {name: shop}
events:
  - {name: order.placed, source: external, schema: OrderSchema}
  - {name: order.placed}
  - {name: order.packed, payload: {id: strin}}
agents:
  - name: judge
    trigger: order.placed
    timeout: soon
    contract:
      context_in:
        from_db: [{table: orders, as: order.md, template: order.liquid}]
        static: [{source: rules.md, dest: rules.md}]
      output_schema: schemas/verdict.ts#Verdict
functions:
  - {name: pack, trigger: {event: order.placed, filter: "payload.total >"}, retry: {max_attempts: 0}, throttle: {limit: 0, period: 1s}}
  - {name: Ship It, trigger: order.packed}
  - {name: send, trigger: order.packed, concurrency: 0}
webhooks:
  - {name: shop, secret: "\${SHOP}", emits: order.placed, transform: hooks/shop.ts}
`

test('errors of all layers and missing files are reported together, each with its line (15.1.1)', async () => {
  folder.write('manifest.yaml', BROKEN)
  folder.write('schemas/verdict.ts', 'export const Judgement = 1\n')
  const { code, stdout } = await folder.run(['manifest', 'validate', '--json'])
  expect(code).toBe(4)
  const { errors, warnings } = JSON.parse(stdout)
  const summaryOf = (findings: readonly { line: number; code: string; message: string }[]): readonly string[] =>
    findings.map(({ line, code: found, message }) => `${line} ${found} ${message}`)
  expect(summaryOf(errors)).toEqual([
    '4 MANIFEST_DUPLICATE_NAME two events are named order.placed',
    '5 MANIFEST_INVALID "strin" is not a type of a field; did you mean string?',
    '9 MANIFEST_INVALID timeout: "soon" is not a duration like 30s, 5m or 3d',
    '16 EXPR_REJECTED Unexpected token: EOF in "payload.total >"',
    '16 MANIFEST_INVALID maxAttempts must be a whole number from 1',
    '16 MANIFEST_INVALID 0 is not a whole number from 1 to 10000',
    '17 MANIFEST_INVALID name: "Ship It" is not a name: a letter, then at most 63 of a-z 0-9 _ -',
    '18 MANIFEST_INVALID 0 is not a whole number from 1 to 10000',
  ])
  const missing = warnings.filter(({ code: found }: { code: string }) => found === 'LINT_FILE_MISSING')
  expect(summaryOf(missing)).toEqual([
    '3 LINT_FILE_MISSING the schema OrderSchema was not found in any file',
    '7 LINT_FILE_MISSING judge has no instructions; expected agents/judge/CLAUDE.md',
    '12 LINT_FILE_MISSING the file order.liquid does not exist',
    '13 LINT_FILE_MISSING the file rules.md does not exist',
    '14 LINT_FILE_MISSING schemas/verdict.ts exports no Verdict',
    '20 LINT_FILE_MISSING the file hooks/shop.ts does not exist',
  ])
})
