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

const knownIds = (): ReadonlySet<string> => {
  const groups = JSON.parse(readFileSync(join(PROJECT, 'docs/features.json'), 'utf8')) as {
    readonly features: readonly { readonly id: string }[]
  }[]
  return new Set(groups.flatMap(({ features }) => features.map(({ id }) => id)))
}

/** Titles begin with their ids; a code of another kind may stand in brackets elsewhere in a text. */
const TITLE = /\b(?:test|it|describe)(?:\.each\([^)]*\))?\(\s*['`]((?:\[[A-Z]\d{1,2}\])+)/g
/** Ids of promises, invariants and known failures of peers. */
const OTHERS = /^[Q-Z]/

test('a title names only features that are listed', () => {
  const known = knownIds()
  const unknown = filesUnder('src', 'test', 'ui')
    .filter(isTest)
    .flatMap(({ path, text }) =>
      [...text.matchAll(TITLE)]
        .flatMap(([, ids = '']) => [...ids.matchAll(/\[([A-Z]\d+)\]/g)].map(([, id = '']) => id))
        .filter((id) => !known.has(id) && !OTHERS.test(id))
        .map((id) => `${id} in ${path}`),
    )
  expect([...new Set(unknown)]).toEqual([])
})

test('every feature with a test is tested through a manifest, TypeScript, HTTP, the command line or a page (15.4.2)', () => {
  const known = knownIds()
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
