/** A feature id in a test title claims that users have the feature, so at least one of its tests must use an entry point of users. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { PROJECT } from '#test/support/places.ts'
import { filesUnder, isTest } from '#test/support/project/architecture.ts'

type Doors = (path: string) => readonly string[]

let doorsOf: Doors

beforeAll(async () => {
  const library = pathToFileURL(join(PROJECT, 'scripts/lib/doors.mjs')).href
  doorsOf = ((await import(/* @vite-ignore */ library)) as { readonly doorsOf: Doors }).doorsOf
})

/** Strings that may be titles; suites contain the titles of their callers. */
const idsIn = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/'[^'\n]*'|`[^`\n]*`/g)].flatMap(([quoted]) =>
      [...quoted.matchAll(/\[([A-P]\d{1,2})\]/g)].map(([, id = '']) => id),
    ),
  )

test('every feature with a test is tested through a manifest, TypeScript, HTTP, the command line or a page (15.4.2)', () => {
  const rows = JSON.parse(readFileSync(join(PROJECT, 'docs/features.json'), 'utf8')) as {
    readonly features: readonly { readonly id: string }[]
  }[]
  const known = new Set(rows.flatMap(({ features }) => features.map(({ id }) => id)))
  const tests = filesUnder('src', 'test', 'ui').filter(isTest)
  const doors = new Map<string, Set<string>>()
  for (const { path, text } of tests)
    for (const id of idsIn(text))
      if (known.has(id)) doors.set(id, new Set([...(doors.get(id) ?? []), ...doorsOf(path)]))
  expect(doors.size).toBeGreaterThan(90)
  expect([...doors].filter(([, used]) => used.size === 0).map(([id]) => id)).toEqual([])
})

test('the entry points of a test are found through its helpers, and a test of a rule has none (15.4.2)', () => {
  expect(doorsOf('src/model/run/run.test.ts')).toEqual([])
  expect(doorsOf('test/acceptance/flow/flow.test.ts')).toEqual(['TypeScript'])
  expect(doorsOf('test/integration/cli/cli-tasks.test.ts')).toContain('command line')
  expect(doorsOf('test/browser/inbox.test.ts')).toContain('page')
  expect(doorsOf('src/http/routes/work/tasks.test.ts')).toContain('HTTP')
  expect(doorsOf('test/integration/cli/cli-manifest.test.ts')).toContain('manifest')
})
