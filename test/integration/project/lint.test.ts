/**
 * Checks that every lint rule is active in every room: plants one fault per rule and room in a temporary tree and expects each to be found,
 * and plants allowed code and expects no finding. Lint settings fail silently: one override too many switches a rule off.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '#test/support/project/architecture.ts'
import { type Findings, findFaults } from '#test/support/project/planted-tree.ts'

interface Room {
  readonly sees: '*' | readonly string[]
  readonly never?: readonly string[]
}

const { ROOMS: TABLE } = (await import(pathToFileURL(join(ROOT, 'scripts/lib/rooms.mjs')).href)) as {
  readonly ROOMS: Readonly<Record<string, Room>>
}
/** Folders; files with their own rules have their own faults below. */
const ROOMS = Object.keys(TABLE).filter((room) => !room.endsWith('.ts'))

const maySee = (room: string, other: string): boolean => {
  const rules = TABLE[room]
  if (rules === undefined) return false
  return rules.sees === '*' ? rules.never?.includes(other) !== true : rules.sees.includes(other)
}

/** Packages that a room may import, and one that it may not. */
const PACKAGES: Readonly<Record<string, { readonly takes: readonly string[]; readonly refuses: readonly string[] }>> = {
  model: { takes: [], refuses: ['node:crypto', 'uuid', '@standard-schema/spec'] },
  ports: { takes: [], refuses: ['node:fs', 'uuid'] },
  manifest: {
    takes: ['@marcbachmann/cel-js', '@standard-schema/spec', 'croner', 'yaml', 'ajv/dist/2020.js'],
    refuses: ['node:fs', 'pg', 'hono'],
  },
  engine: { takes: [], refuses: ['node:fs/promises', 'node:fs', 'uuid', 'pg', 'vitest'] },
  executors: { takes: ['@standard-schema/spec'], refuses: ['pg', '@photostructure/sqlite', 'hono', 'node:fs'] },
  'executors/agent': {
    takes: ['@standard-schema/spec', 'node:fs', 'node:fs/promises'],
    refuses: ['pg', '@photostructure/sqlite', 'hono'],
  },
  'executors/human': { takes: ['@standard-schema/spec'], refuses: ['pg', '@photostructure/sqlite', 'node:fs'] },
  'executors/workflow': {
    takes: ['@standard-schema/spec', 'liquidjs'],
    refuses: ['pg', '@photostructure/sqlite', 'node:fs'],
  },
  triggers: { takes: ['node:fs', 'chokidar', 'standardwebhooks'], refuses: ['pg', '@photostructure/sqlite', 'vitest'] },
  modes: { takes: [], refuses: ['node:fs', 'pg', 'fast-check'] },
  planner: { takes: [], refuses: ['node:fs', 'pg', 'fast-check'] },
  adapters: { takes: [], refuses: ['pg', 'undici', 'node:fs'] },
  'adapters/storage': { takes: ['node:crypto'], refuses: ['pg', '@photostructure/sqlite', 'node:fs'] },
  'adapters/storage/migrations': { takes: [], refuses: ['pg', '@photostructure/sqlite', 'node:fs'] },
  'adapters/storage/memory': { takes: [], refuses: ['pg', '@photostructure/sqlite', 'node:fs'] },
  'adapters/storage/postgres': { takes: ['pg', 'node:net'], refuses: ['@photostructure/sqlite', 'uuid'] },
  'adapters/storage/sqlite': { takes: ['@photostructure/sqlite', 'node:fs/promises'], refuses: ['pg', 'uuid'] },
  'adapters/system': { takes: ['uuid', 'node:crypto'], refuses: ['pg', '@photostructure/sqlite'] },
  'adapters/models/ai-sdk': {
    takes: ['yaml', 'liquidjs', 're2js', 'node:fs'],
    refuses: ['ai', '@ai-sdk/openai', '@pydantic/genai-prices', 'undici', 'pg'],
  },
  'adapters/tools': {
    takes: ['undici', 'html-to-text', '@modelcontextprotocol/client/stdio', 're2js', 'node:net'],
    refuses: ['ai', '@ai-sdk/openai', 'pg', '@modelcontextprotocol/server'],
  },
  'adapters/notify': { takes: ['standardwebhooks', 'nodemailer'], refuses: ['undici', 'pg', 'node:net', 'ai'] },
  'adapters/dispatch/wakes': { takes: [], refuses: ['pg', '@restatedev/restate-sdk', 'node:fs'] },
  'adapters/dispatch/restate': { takes: ['@restatedev/restate-sdk', 'node:http2'], refuses: ['pg', 'uuid'] },
  'adapters/dispatch/inngest': { takes: ['node:crypto'], refuses: ['inngest', '@restatedev/restate-sdk', 'pg'] },
  'adapters/models/claude-agent': {
    takes: ['@anthropic-ai/claude-agent-sdk', 'node:fs/promises'],
    refuses: ['ai', 'pg'],
  },
  'adapters/documents': { takes: ['node:worker_threads'], refuses: ['html-to-text', 'csv-parse', 'pg'] },
  'adapters/remote': { takes: ['standardwebhooks', 'node:http'], refuses: ['pg', 'uuid'] },
  'adapters/isolation': { takes: ['node:child_process'], refuses: ['undici', 'jiti'] },
  http: { takes: ['hono', '@hono/node-server', 'node:http'], refuses: ['pg', '@photostructure/sqlite', 'vitest'] },
  cli: { takes: ['commander', 'picocolors', 'jiti', 'node:fs'], refuses: ['pg', 'node:sqlite', 'vitest'] },
  'cli/verify': {
    takes: ['pg', '@photostructure/sqlite', 'node:crypto', 'node:fs/promises'],
    refuses: ['picocolors', 'uuid'],
  },
  compose: { takes: ['pg'], refuses: ['vitest', 'fast-check'] },
  testing: { takes: ['node:crypto'], refuses: ['vitest', 'fast-check', 'pg'] },
}

const TIME = ['Date', 'crypto', 'performance', 'globalThis']
const OUTSIDE = ['process', 'fetch', 'console', 'setTimeout', 'setInterval', 'setImmediate']
const EDGES = ['http', 'cli', 'cli/verify', 'triggers']
const isFreeOfRules = (room: string): boolean => /^adapters(\/|$)/.test(room) || room === 'testing'
const forbiddenGlobals = (room: string): readonly string[] => {
  if (isFreeOfRules(room)) return []
  return EDGES.includes(room) ? TIME : [...TIME, ...OUTSIDE]
}

/** One fault per rule that applies everywhere. The key is the file in which it is planted. */
const FAULTS: Readonly<Record<string, { readonly rule: string; readonly text: string }>> = {
  'src/model/cycle.ts': { rule: 'cycle', text: `import type { B } from './cycle-b.ts'\nexport type A = B[]` },
  'src/engine/core/cycle.ts': { rule: 'cycle', text: `import { b } from '#engine/run/cycle-b.ts'\nexport const a = b` },
  'src/engine/core/above.ts': { rule: 'rooms', text: `import { b } from '../run/plain.ts'\nexport const a = b` },
  'src/nowhere/new.ts': { rule: 'rooms', text: `import { target } from '#model/target.ts'\nexport const a = target` },
  'src/model/barrel.ts': { rule: 'noBarrelFile', text: `export { target } from './target.ts'` },
  'src/model/all.ts': { rule: 'noReExportAll', text: `export * from './target.ts'` },
  'src/model/unnamed.ts': { rule: 'noDefaultExport', text: 'export default 1' },
  'src/model/floating.ts': {
    rule: 'noFloatingPromises',
    text: 'const later = async (): Promise<number> => 1\nexport const go = (): void => {\n  later()\n}',
  },
  'src/model/misused.ts': {
    rule: 'noMisusedPromises',
    text: 'const later = async (): Promise<boolean> => true\nexport const go = (): number => (later() ? 1 : 2)',
  },
  'src/model/forgetful.ts': {
    rule: 'useExhaustiveSwitchCases',
    text: `export const go = (kind: 'a' | 'b'): void => {\n  switch (kind) {\n    case 'a':\n      return\n  }\n}`,
  },
  'src/model/bare.ts': {
    rule: 'useImportExtensions',
    text: `import { target } from './target'\nexport const x = target`,
  },
  'src/model/value.ts': { rule: 'useImportType', text: `import { B } from './b.ts'\nexport type A = B[]` },
  'src/model/throws.ts': { rule: 'useThrowOnlyError', text: `export const go = (): never => {\n  throw 'text'\n}` },
  'src/model/bang.ts': { rule: 'noNonNullAssertion', text: 'export const go = (x: string | null): string => x!' },
  'src/model/anything.ts': { rule: 'noExplicitAny', text: 'export const go = (x: any): unknown => x' },
  'src/model/thenable.ts': { rule: 'noThenProperty', text: 'export const story = { then: 1 }' },
  'src/model/camelCase.ts': { rule: 'useFilenamingConvention', text: 'export const x = 1' },
  'src/model/only.test.ts': { rule: 'noFocusedTests', text: `import { test } from 'vitest'\ntest.only('x', () => {})` },
  'src/model/skip.test.ts': { rule: 'noSkippedTests', text: `import { test } from 'vitest'\ntest.skip('x', () => {})` },
  'src/model/sleep.test.ts': { rule: 'noRestrictedGlobals', text: 'setTimeout(() => {}, 10)' },
  'test/acceptance/sleep.test.ts': { rule: 'noRestrictedGlobals', text: 'setInterval(() => {}, 10)' },
  'test/chaos/program.ts': { rule: 'noRestrictedGlobals', text: 'setTimeout(() => {}, 10)' },
  'test/chaos/nap.test.ts': {
    rule: 'noRestrictedImports',
    text: `import { setTimeout as nap } from 'node:timers/promises'\nawait nap(1)`,
  },
  'src/http/entry.ts': {
    rule: 'rooms',
    text: `import { assemble } from '#compose/assemble.ts'\nexport const x = assemble`,
  },
  'src/http/public.ts': { rule: 'rooms', text: `import { x } from '../index.ts'\nexport const y = x` },
  'src/cli/public.ts': { rule: 'rooms', text: `import { x } from '../index.ts'\nexport const y = x` },
  'src/cli/clock.ts': {
    rule: 'rooms',
    text: `import { start } from '#testing/system.ts'\nexport const x = start`,
  },
  'src/testing/entry.ts': {
    rule: 'rooms',
    text: `import { assemble } from '#compose/assemble.ts'\nexport const x = assemble`,
  },
  'src/testing/virtual-clock.ts': {
    rule: 'rooms',
    text: `import { expect } from 'vitest'\nexport const x = expect`,
  },
  'src/testing/ledger/borrowed.ts': {
    rule: 'rooms',
    text: `import { target } from '#adapters/storage/memory/target.ts'\nexport const x = target`,
  },
  'src/compose/assemble.ts': {
    rule: 'rooms',
    text: `import { expect } from 'vitest'\nexport const assemble = expect`,
  },
  'src/index.ts': {
    rule: 'rooms',
    text: `import { specify } from './testing/spec.ts'\nexport const x = specify`,
  },
  'src/adapters/models/ai-sdk/ai-sdk.ts': {
    rule: 'rooms',
    text: `import * as all from 'undici'\nexport const x = all`,
  },
  'src/adapters/models/ai-sdk/prices.ts': {
    rule: 'rooms',
    text: `import * as all from 'ai'\nexport const x = all`,
  },
  'src/cli/verify/ours.ts': {
    rule: 'rooms',
    text: `import { target } from '#cli/target.ts'\nexport const x = target`,
  },
}

/** Code that must stay allowed. */
const ALLOWED: Readonly<Record<string, string>> = {
  'tool.config.ts': 'export default 1',
  'src/testing/index.ts': `export { specify } from './spec.ts'\nexport * from './target.ts'`,
  'src/testing/suites.ts': `export { specify } from './spec.ts'\nexport * from './target.ts'`,
  'src/testing/test-system.ts': `import { assemble } from '#compose/assemble.ts'\nexport const start = assemble`,
  'src/testing/spec.ts': `import { expect } from 'vitest'\nexport const specify = expect`,
  'src/testing/ledger-suite.ts': `import { test } from 'vitest'\nexport const suite = test`,
  'src/testing/ledger/harness.ts': `import { test } from 'vitest'\nexport const suite = test`,
  'src/testing/ledger/histories-suite.ts': `import fc from 'fast-check'\nexport const anything = fc`,
  'src/testing/system.ts': `import { assemble } from '#compose/assemble.ts'\nexport const start = assemble`,
  'src/cli/serving/dev.ts': `import { assemble } from '#compose/assemble.ts'\nexport const dev = assemble`,
  'src/cli/manifest/rehearse.ts': `import { start } from '#testing/system.ts'\nexport const rehearse = start`,
  'src/cli/verify/sums.ts': `import { target } from './target.ts'\nexport const sums = target`,
  'src/adapters/storage/migrations/0001-ledger.ts': 'export const ledgerTables = 1',
  'src/engine/core/advance.test.ts': `import { target } from '#adapters/storage/memory/target.ts'\nexport const now = [target, Date.now(), Math.random()]`,
  'src/model/run/run.property.test.ts': `import fc from 'fast-check'\nexport const anything = fc`,
  'src/model/keys.ts': `export const go = (x: Record<string, string>): string | undefined => x['name']`,
  'test/support/wait.ts': 'setTimeout(() => {}, 10)',
  'scripts/tool.mjs': `console.log(new Date(), process.argv, Math.random())`,
}

const visit = (from: string, to: string): string => `src/${from}/sees-${to.replaceAll('/', '-')}.ts`
const carry = (room: string, name: string): string => `src/${room}/takes-${name.replaceAll(/[^a-z]+/g, '-')}.ts`
const grab = (room: string, name: string): string => `src/${room}/grabs-${name.toLowerCase()}.ts`
const rolls = (room: string): string => `src/${room}/rolls.ts`

/** A static import, a type-only one and one at run time: a rule must find all three. */
const importThrice = (source: string): string => `
import { target } from '${source}'
import type { target as shape } from '${source}'
export type Shape = typeof shape
export const reach = async (): Promise<unknown> => [target, await import('${source}')]
`
const others = (room: string): readonly string[] => ROOMS.filter((other) => other !== room)

const plantRoom = (room: string): readonly (readonly [string, string])[] => [
  [`src/${room}/target.ts`, 'export const target = 1'],
  ...others(room).map((other) => [visit(room, other), importThrice(`#${other}/target.ts`)] as const),
  ...[...(PACKAGES[room]?.takes ?? []), ...(PACKAGES[room]?.refuses ?? [])].map(
    (name) => [carry(room, name), `import * as all from '${name}'\nexport const x = all`] as const,
  ),
  ...[...TIME, ...OUTSIDE].map((name) => [grab(room, name), `export const grabbed = () => ${name}`] as const),
  [rolls(room), 'export const roll = () => Math.random()'],
]

describe('the lint rules', () => {
  let found: Findings
  const rulesIn = (path: string): readonly string[] => found.get(path) ?? []
  const count = (path: string, rule: string): number => rulesIn(path).filter((name) => name === rule).length

  beforeAll(() => {
    found = findFaults(
      new Map([
        ...ROOMS.flatMap(plantRoom),
        ['src/model/b.ts', 'export type B = string'],
        ['src/engine/run/cycle-b.ts', `import { a } from '#engine/core/cycle.ts'\nexport const b = a`],
        ['src/engine/run/plain.ts', 'export const b = 1'],
        ['src/model/cycle-b.ts', `import type { A } from './cycle.ts'\nexport type B = A | string`],
        ...Object.entries(FAULTS).map(([path, fault]) => [path, fault.text] as const),
        ...Object.entries(ALLOWED),
      ]),
    )
  })

  test.each(Object.entries(FAULTS))('find the fault in %s', (path, { rule }) => {
    expect(rulesIn(path)).toContain(rule)
  })

  test.each(Object.keys(ALLOWED))('accept %s', (path) => {
    expect(rulesIn(path)).toEqual([])
  })

  describe.each(ROOMS)('in %s', (room) => {
    test('refuse imports of every room that it may not see, and no others', () => {
      const faults = others(room).map((other) => [other, count(visit(room, other), 'rooms')])
      const expected = others(room).map((other) => [other, maySee(room, other) ? 0 : 3])
      expect(Object.fromEntries(faults)).toEqual(Object.fromEntries(expected))
    })

    test('refuse packages that do not belong there', () => {
      const refused = (name: string): boolean => count(carry(room, name), 'rooms') > 0
      expect(PACKAGES[room]?.refuses.filter((name) => !refused(name))).toEqual([])
      expect(PACKAGES[room]?.takes.filter(refused)).toEqual([])
    })

    test('refuse clock, randomness and the outside world in rooms that get them through a port', () => {
      const refused = [...TIME, ...OUTSIDE].filter((name) => count(grab(room, name), 'noRestrictedGlobals') > 0)
      expect(refused).toEqual(forbiddenGlobals(room))
      expect(count(rolls(room), 'plugin')).toBe(isFreeOfRules(room) ? 0 : 1)
    })
  })
})
