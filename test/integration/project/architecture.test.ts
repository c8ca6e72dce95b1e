/**
 * The architecture rules that no linter checks: arrows, widths, sizes, invariants, what a published program may load, the lock.
 *
 * Each check also gets a planted fault, so that none passes by accident. Lint has its own file.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  exportedNames,
  filesUnder,
  headerOf,
  isTest,
  membersOf,
  packagesFrom,
  pageFiles,
  ROOT,
  sharedInvariants,
  strayArrows,
  unprovenInvariants,
} from '#test/support/project/architecture.ts'
import { LONGEST } from '#test/support/project/longest-files.ts'

/** Types of what users pass to the exported functions or get from them, and so write in their own signatures. */
const NAMED_BY_USERS = [
  ...['AgentOptions', 'Decision', 'FunctionContext', 'FunctionOptions', 'HumanOptions', 'Identity', 'IncomingEvent'],
  ...[
    'Receipt',
    'RunResult',
    'SendOptions',
    'StartOptions',
    'SystemSource',
    'ToolOptions',
    'Trihand',
    'TrihandOptions',
  ],
]

const sources = filesUnder('src')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const linesOf = (text: string): number => text.trimEnd().split('\n').length

describe('the arrows', () => {
  test('decide, execute and append are called in one file each', () => {
    expect(strayArrows(sources)).toEqual([])
  })

  test.each([
    ['src/engine/worker/worker.ts', 'run.decide(state, command)'],
    ['src/engine/core/advance.ts', 'await executor.execute(envelope, signal)'],
    ['src/http/server/app.ts', 'await ledger.append([])'],
    ['src/cli/run.ts', 'await this.#store.append([])'],
  ])('a call outside its file is found: %s', (path, text) => {
    expect(strayArrows([{ path, text }])).toHaveLength(1)
  })

  test.each([
    ['src/engine/core/advance.ts', 'run.decide(state, command)'],
    ['src/engine/core/perform.ts', 'await executor.execute(envelope, signal)'],
    ['src/engine/core/commit.ts', 'await ledger.append([])'],
    ['src/http/server/app.ts', `response.headers.append('vary', 'origin')`],
    ['src/engine/worker/worker.ts', '// never calls run.decide( itself'],
  ])('a call in its own file is allowed: %s', (path, text) => {
    expect(strayArrows([{ path, text }])).toEqual([])
  })
})

describe('the process of an application', () => {
  test('is not changed by the library: one file sets a V8 flag, and only if tuneProcess asks for it', () => {
    const production = sources.filter((file) => !isTest(file))
    const setting = production.filter(({ text }) => /\bsetFlagsFromString\b.*from 'node:v8'/.test(text))
    expect(setting.map(({ path }) => path)).toEqual(['src/adapters/storage/sqlite/collector.ts'])
    const calls = production.flatMap(({ text }) => text.match(/^.*\bcollectAlone\(.*$/gm) ?? [])
    expect(calls.map((line) => line.trim())).toEqual(['if (tuneProcess) collectAlone()'])
  })
})

describe('the ports', () => {
  test.each([
    ['Ledger', 'src/ports/ledger.ts', 8],
    ['Dispatcher', 'src/ports/dispatcher.ts', 3],
    ['Executor', 'src/ports/executor.ts', 1],
  ])('%s stays narrow', (name, path, limit) => {
    const members = membersOf(read(path), name)
    expect(members.length).toBeGreaterThan(0)
    expect(members.length).toBeLessThanOrEqual(limit)
  })

  test('the count of members includes every notation', () => {
    const text =
      'export interface Port {\n  /** Why(). */\n  a(): void\n  b(\n    x: number,\n  ): void\n  readonly c: () => void\n  d<T>(x: T): T\n}\n'
    expect(membersOf(text, 'Port')).toEqual(['a', 'b', 'c', 'd'])
  })
})

describe('the files', () => {
  test('none is longer than 400 lines', () => {
    const written = [...sources, ...filesUnder('test', 'scripts', 'bench'), ...pageFiles()].filter(
      (file) => !headerOf(file.text).includes('do not edit'),
    )
    const tooLong = written.filter((file) => linesOf(file.text) > 400)
    expect(tooLong.map((file) => file.path)).toEqual([])
  })

  test('each starts with a header comment', () => {
    const silent = filesUnder('src', 'test', 'scripts').filter((file) => headerOf(file.text) === '')
    expect(silent.map((file) => file.path)).toEqual([])
  })

  test('a decision record fits on one page', () => {
    const records = readdirSync(join(ROOT, 'docs/decisions'))
    expect(records.filter((name) => linesOf(read(`docs/decisions/${name}`)) > 40)).toEqual([])
  })
})

describe('the invariants', () => {
  test('each one that a header numbers is named by a test', () => {
    expect(unprovenInvariants([...sources, ...filesUnder('test')])).toEqual([])
  })

  test('each id belongs to one file, in sources and tests together (15.4.3)', () => {
    expect(sharedInvariants([...sources, ...filesUnder('test')])).toEqual([])
  })

  test('an id with two owners is found, and a longer id with the same ending does not count (15.4.3)', () => {
    const [one, other] = ['a', 'b'].map((name) => ({
      path: `src/${name}.ts`,
      text: '/**\n * door-1  It shuts.\n */\n',
    }))
    if (one === undefined || other === undefined) throw new Error('there are two')
    const proof = { path: 'src/a.test.ts', text: `test('trap-door-1: it falls', () => {})` }
    expect(sharedInvariants([one, other, proof])).toEqual(['door-1 of src/a.ts and src/b.ts'])
    expect(unprovenInvariants([one, proof])).toEqual(['door-1 of src/a.ts'])
  })

  test('one that no test names is found', () => {
    const door = { path: 'src/model/door.ts', text: '/**\n * door-1  It shuts.\n * door-2  It locks.\n */\n' }
    const proof = { path: 'src/model/door.test.ts', text: `test('door-1: it shuts', () => {})` }
    expect(unprovenInvariants([door, proof])).toEqual(['door-2 of src/model/door.ts'])
  })
})

describe('a published program', () => {
  const production = sources.filter((file) => !isTest(file) && !file.path.startsWith('src/testing/'))

  test('never loads the test runner', () => {
    const reached = production.flatMap((file) => {
      const packages = packagesFrom(sources, file.path)
      return ['vitest', 'fast-check'].flatMap((name) => packages.get(name) ?? [])
    })
    expect(reached).toEqual([])
  })

  test("never loads the users' test kit; the conformance suites are separate (15.5.1)", () => {
    const kit = packagesFrom(sources, 'src/testing/index.ts')
    expect(['vitest', 'fast-check'].flatMap((name) => kit.get(name) ?? [])).toEqual([])
    expect(packagesFrom(sources, 'src/testing/suites.ts').has('vitest')).toBe(true)
  })

  test('an import of the test runner is found in every notation, unless it is type-only', () => {
    const file = (path: string, text: string) => ({ path, text })
    const files = [
      file('src/a.ts', `import {\n  type X,\n  b,\n} from './b.ts'`),
      file('src/b.ts', `export const b = async () => import('./c/d.ts')`),
      file('src/c/d.ts', `import 'vitest'`),
      file('src/e.ts', `import type { D } from './c/d.ts'\nexport type { D }`),
    ]
    expect(packagesFrom(files, 'src/a.ts').get('vitest')).toBe('src/a.ts > src/b.ts > src/c/d.ts > vitest')
    expect(packagesFrom(files, 'src/e.ts').size).toBe(0)
    expect(packagesFrom(sources, 'src/testing/spec.ts').has('vitest')).toBe(true)
  })

  test('loads no package before it is needed', () => {
    const early = [...packagesFrom(sources, 'src/index.ts', { early: true })].filter(
      ([name]) => !name.startsWith('node:'),
    )
    expect(early).toEqual([])
    // A verb without a server loads the HTTP application.
    const served = [...packagesFrom(sources, 'src/http/server/app.ts', { early: true }).keys()]
    expect(served.filter((name) => !name.startsWith('node:') && !/^hono(\/|$)/.test(name))).toEqual([])
    const files = [
      { path: 'src/a.ts', text: `import { b } from './b.ts'\nexport const c = () => import('late')` },
      { path: 'src/b.ts', text: `import { early } from 'early'` },
    ]
    expect([...packagesFrom(files, 'src/a.ts', { early: true }).keys()]).toEqual(['early'])
    expect([...packagesFrom(files, 'src/a.ts').keys()]).toEqual(['late', 'early'])
  })

  test('exports at most thirty values, the types that users must name, and each by its name', () => {
    const entry = read('src/index.ts')
    expect(entry).not.toContain('export *')
    const { values, types } = exportedNames(entry)
    expect(values.length).toBeGreaterThan(0)
    expect(values.length).toBeLessThanOrEqual(30)
    expect(types).toEqual(expect.arrayContaining(NAMED_BY_USERS))
  })

  test('the count of exported names includes every notation, and tells types from values', () => {
    const entry = [
      `export { a, b as c, type D } from './a.ts'`,
      `export type { E } from './e.ts'`,
      'export const f = 1',
      'export interface G {}',
    ].join('\n')
    expect(exportedNames(entry)).toEqual({ values: ['a', 'c', 'f'], types: ['D', 'E', 'G'] })
  })
})

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly allowScripts: Readonly<Record<string, boolean>>
}
interface Lock {
  readonly packages: Record<string, { resolved?: string; hasInstallScript?: boolean }>
}

describe('the published entries beside the root', () => {
  const { exports, peerDependencies, peerDependenciesMeta, devDependencies } = JSON.parse(read('package.json')) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
    readonly peerDependencies: Readonly<Record<string, string>>
    readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
    readonly devDependencies: Readonly<Record<string, string>>
  }
  const entries = Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry.default]))

  test('every subpath is a file of ours, and is built', () => {
    const built = read('scripts/build.mjs')
    const lost = entries.filter((path) => {
      const name = path.replace(/^\.\/dist\//, '').replace(/\.js$/, '')
      return !sources.some((file) => file.path === `src/${name}.ts`) || !built.includes(`'${name}'`)
    })
    expect(entries.length).toBeGreaterThan(4)
    expect(lost).toEqual([])
  })

  test('every peer dependency is optional, and the large one stays out of our lock', () => {
    expect(Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)).toEqual([])
    expect(Object.keys(devDependencies)).not.toContain('@anthropic-ai/claude-agent-sdk')
    expect(read('package-lock.json')).not.toContain('node_modules/@anthropic-ai/claude-agent-sdk')
  })

  test('the entry of an optional peer dependency loads it only when it is used', () => {
    const early = packagesFrom(sources, 'src/adapters/models/claude-agent/claude-agent.ts', { early: true })
    expect([...early.keys()].filter((name) => !name.startsWith('node:'))).toEqual([])
  })
})

describe('the packages', () => {
  const manifest = JSON.parse(read('package.json')) as Manifest
  const readLock = (): Lock => JSON.parse(read('package-lock.json')) as Lock

  const checkLock = (lock: Lock): number | null => {
    const folder = mkdtempSync(join(tmpdir(), 'trihand-lock-'))
    try {
      mkdirSync(join(folder, 'scripts'))
      cpSync(join(ROOT, 'scripts/complete-lock.mjs'), join(folder, 'scripts/complete-lock.mjs'))
      writeFileSync(join(folder, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`)
      return spawnSync(process.execPath, [join(folder, 'scripts/complete-lock.mjs'), '--check']).status
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  test('are pinned to a version or its patches', () => {
    const ranges = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
    expect(ranges.filter(([, range]) => !/^~?\d+\.\d+\.\d+(-[\w.]+)?$/.test(range))).toEqual([])
  })

  test('are locked for every platform, and the lock names no host', () => {
    expect(checkLock(readLock())).toBe(0)
  })

  test('a lock without one platform is found', () => {
    const lock = readLock()
    delete lock.packages['node_modules/@biomejs/cli-darwin-arm64']
    expect(checkLock(lock)).toBe(1)
  })

  test('a lock that names a host is found', () => {
    const lock = readLock()
    const [path, entry] = Object.entries(lock.packages).find(([name]) => name.endsWith('/hono')) ?? ['', {}]
    lock.packages[path] = { ...entry, resolved: 'https://registry.example/hono.tgz' }
    expect(checkLock(lock)).toBe(1)
  })

  test('run no install script', () => {
    const scripted = Object.entries(readLock().packages)
      .filter(([, entry]) => entry.hasInstallScript === true)
      .map(([path]) => path.replace(/^.*node_modules\//, ''))
    expect(scripted.filter((name) => manifest.allowScripts[name] !== false)).toEqual([])
    expect(Object.values(manifest.allowScripts)).not.toContain(true)
  })
})

describe('the set-up', () => {
  test('is the two lines of the README, and .ci/run executes the second', () => {
    const readme = read('README.md')
    expect(readme).toContain('npm ci && npm start')
    expect(readme).toContain('npm ci && npm test')
    expect(read('.ci/run')).toMatch(/'npm ci\b[^']*'\n\s+'npm test'/)
  })

  test('starts with the longest test files, all of which exist', () => {
    expect(LONGEST.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
  })
})
