/**
 * Defines which room may import which, and checks every import of `src/` and `ui/src/` against that table.
 *
 * Owns the table, the check for import cycles (types included) and the limit on the size of folders. Reads source text and never runs it.
 * Used by lint, by the test that plants faults and by `npm run house`; ARCHITECTURE.md explains the rooms.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

const PORTS = ['model', 'ports']
const FLOW = [...PORTS, 'manifest', 'engine']
const HANDS = ['executors', 'executors/agent', 'executors/human', 'executors/workflow']
const TEST_TOOLS = ['vitest', 'fast-check']
const NODE = 'node:*'

/**
 * A room is a folder with everything below it that is not a room of its own, or one file. It may import itself, the rooms in `sees`, and
 * the packages in `packages`. `*` is everything but `never`.
 */
export const ROOMS = {
  model: { sees: [], packages: [] },
  ports: { sees: ['model'], packages: [] },
  manifest: {
    sees: ['model'],
    packages: [
      '@marcbachmann/cel-js',
      '@standard-schema/spec',
      'ajv/dist/2020.js',
      'croner',
      'node:module',
      'rfc6902',
      'yaml',
    ],
  },
  engine: { sees: [...PORTS, 'manifest'], packages: [] },
  executors: { sees: [...PORTS, ...HANDS], packages: ['@standard-schema/spec'] },
  'executors/agent': { sees: [...PORTS, 'executors'], packages: ['@standard-schema/spec', NODE] },
  'executors/human': { sees: [...PORTS, 'executors'], packages: ['@standard-schema/spec'] },
  'executors/workflow': { sees: [...PORTS, 'executors'], packages: ['@standard-schema/spec', 'liquidjs'] },
  triggers: { sees: FLOW, packages: ['chokidar', 'standardwebhooks', NODE] },
  modes: { sees: FLOW, packages: [] },
  planner: { sees: FLOW, packages: [] },
  adapters: { sees: PORTS, packages: [] },
  'adapters/storage': { sees: PORTS, packages: ['node:crypto'] },
  'adapters/storage/migrations': { sees: ['model'], packages: [] },
  'adapters/storage/memory': { sees: [...PORTS, 'adapters/storage', 'adapters/storage/migrations'], packages: [] },
  'adapters/storage/postgres': {
    sees: [...PORTS, 'adapters/storage', 'adapters/storage/migrations'],
    packages: ['pg', NODE],
  },
  'adapters/storage/sqlite': {
    sees: [...PORTS, 'adapters/storage', 'adapters/storage/migrations'],
    packages: ['@photostructure/sqlite', NODE],
  },
  'adapters/system': { sees: [...PORTS, 'adapters/storage/migrations'], packages: ['uuid', NODE] },
  'adapters/dispatch/wakes': { sees: PORTS, packages: [] },
  'adapters/dispatch/restate': {
    sees: [...PORTS, 'adapters', 'adapters/dispatch/wakes'],
    packages: ['@restatedev/restate-sdk', NODE],
  },
  'adapters/dispatch/inngest': { sees: [...PORTS, 'adapters/dispatch/wakes'], packages: [NODE] },
  'adapters/models/ai-sdk': { sees: PORTS, packages: ['liquidjs', 're2js', 'yaml', NODE] },
  'adapters/models/ai-sdk/ai-sdk.ts': { sees: [...PORTS, 'adapters/models/ai-sdk'], packages: ['ai', '@ai-sdk/*'] },
  'adapters/models/ai-sdk/prices.ts': {
    sees: [...PORTS, 'adapters/models/ai-sdk'],
    packages: ['@pydantic/genai-prices', 'node:module'],
  },
  'adapters/models/claude-agent': {
    sees: [...PORTS, 'adapters'],
    packages: ['@anthropic-ai/claude-agent-sdk', NODE],
  },
  'adapters/notify': { sees: [...PORTS, 'adapters'], packages: ['nodemailer', 'standardwebhooks'] },
  'adapters/tools': {
    sees: [...PORTS, 'adapters'],
    packages: [
      '@modelcontextprotocol/client',
      '@modelcontextprotocol/client/*',
      'html-to-text',
      'just-bash',
      're2js',
      'undici',
      NODE,
    ],
  },
  'adapters/documents': { sees: [...PORTS, 'adapters'], packages: [NODE] },
  'adapters/isolation': { sees: PORTS, packages: [NODE] },
  'adapters/remote': { sees: PORTS, packages: ['standardwebhooks', 'undici', NODE] },
  http: {
    sees: [...FLOW, 'triggers', 'modes', 'planner', ...HANDS],
    packages: '*',
    never: ['pg', '@photostructure/*', 'node:sqlite', ...TEST_TOOLS],
  },
  cli: {
    sees: [...FLOW, 'triggers', 'modes', 'planner', ...HANDS, 'http', 'compose', 'cli/verify'],
    packages: '*',
    never: ['pg', '@photostructure/*', 'node:sqlite', ...TEST_TOOLS],
  },
  /** Drives the clock of the test kit and sees nothing else of it. */
  'cli/manifest/rehearse.ts': {
    sees: [...FLOW, 'triggers', 'modes', 'planner', ...HANDS, 'http', 'compose', 'cli', 'testing/system.ts'],
    packages: '*',
    never: ['pg', '@photostructure/*', 'node:sqlite', ...TEST_TOOLS],
  },
  /** Judges our code, so it shares none of it. */
  'cli/verify': { sees: [], packages: ['@photostructure/sqlite', 'pg', NODE] },
  testing: { sees: PORTS, packages: [NODE] },
  'testing/system.ts': {
    sees: [
      ...FLOW,
      'compose',
      'adapters/storage/memory',
      'adapters/system',
      'cli/manifest/load-system.ts',
      'testing',
      'testing/system.ts',
    ],
    packages: [NODE],
  },
  compose: { sees: '*', never: ['index.ts', 'testing', ...TEST_TOOLS], packages: '*' },
  'index.ts': { sees: '*', never: ['testing', ...TEST_TOOLS], packages: '*' },
}
ROOMS['testing/test-system.ts'] = ROOMS['testing/system.ts']

/** Parts of the test kit that run inside a test runner. */
const SUITES = { sees: [...PORTS, 'testing'], packages: [...TEST_TOOLS, NODE] }
const isSuite = (path) => /^testing\/(spec\.ts|[^/]+-suite\.ts|[^/]+\/.)/.test(path)

/** The parts of `src/` that the web app may import: wire types, the rules of forms and of plans in tasks, how text is made visible. */
const SEEN_BY_THE_PAGE = [
  'http/openapi/api.ts',
  'model/kernel/form-fields.ts',
  'model/kernel/visible-text.ts',
  'model/plan/words.ts',
]

/** The room of a path below `src/`: the longest match. */
const roomOf = (path) => {
  let room = path
  while (ROOMS[room] === undefined && room.includes('/')) room = posix.dirname(room)
  return ROOMS[room] === undefined ? undefined : room
}

const fits = (name, pattern) => name === pattern || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)))

const withoutComments = (text) => text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

/** Every import of a file: static, type-only, and on demand. */
const importsIn = (text) =>
  [
    ...withoutComments(text).matchAll(
      /(?:^|[;}\s])(?:import|export)\s(?:[\w\s{},*$]+?\sfrom\s)?['"]([^'"\n]+)['"]|(?<!typeof )\bimport\(\s*['"]([^'"\n]+)['"]/g,
    ),
  ].map(([, plain, late]) => plain ?? late)

/** The target of an import: a path from the project's root, or a package. */
const targetOf = (from, source) => {
  if (source.startsWith('#')) return source.startsWith('#test/') ? source.slice(1) : `src/${source.slice(1)}`
  return source.startsWith('.') ? posix.join(posix.dirname(from), source) : source
}

const isOurs = (source) => source.startsWith('.') || source.startsWith('#')

const refusedPackage = (rules, name) =>
  rules.packages === '*'
    ? (rules.never ?? []).some((pattern) => fits(name, pattern) || name.startsWith(`${pattern}/`))
    : !rules.packages.some((pattern) => fits(name, pattern))

const refusedRoom = (rules, room, path) => {
  if (rules.sees === '*') return rules.never.includes(room) || rules.never.includes(room.split('/')[0])
  return !rules.sees.includes(room) && !rules.sees.includes(path)
}

const faultOf = (path, source) => {
  const target = targetOf(path, source)
  if (path.startsWith('ui/')) {
    if (source.startsWith('node:')) return 'the web app runs in a browser'
    const below = target.startsWith('src/') ? target.slice(4) : null
    return below === null || SEEN_BY_THE_PAGE.includes(below) ? null : 'the web app speaks only HTTP'
  }
  const from = path.slice(4)
  const room = roomOf(from)
  if (room === undefined) return 'no room has this file: add it to scripts/lib/rooms.mjs'
  const rules = isSuite(from) ? SUITES : ROOMS[room]
  if (!isOurs(source)) return refusedPackage(rules, target) ? `${room} may not take this package` : null
  if (!target.startsWith('src/')) return `${room} sees nothing outside of src/`
  if (source.startsWith('..')) return 'another folder is imported by its name: #room/…'
  const seen = roomOf(target.slice(4))
  // A file with its own rules still belongs to the folder around it.
  const isInside = seen?.endsWith('.ts') && posix.dirname(seen).startsWith(room)
  if (seen === room || isInside || (isSuite(from) && seen === 'testing')) return null
  return seen === undefined || refusedRoom(rules, seen, target.slice(4))
    ? `${room} may not see ${seen ?? target}`
    : null
}

const isTest = (path) => /\.test\.tsx?$/.test(path)

/** Imports that the table forbids: path, target, reason. Tests may import anything. */
export const importFaults = (files) =>
  files
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, text }) =>
      importsIn(text).flatMap((source) => {
        const why = faultOf(path, source)
        return why === null ? [] : [{ path, source, why }]
      }),
    )

/** The files that each given file imports. */
export const importGraph = (files) => {
  const known = new Set(files.map(({ path }) => path))
  return new Map(
    files.map(({ path, text }) => [
      path,
      [
        ...new Set(
          importsIn(text)
            .filter(isOurs)
            .map((source) => targetOf(path, source)),
        ),
      ].filter((to) => known.has(to)),
    ]),
  )
}

/** Import cycles, as lists of paths; each cycle once. */
export const cyclesIn = (graph) => {
  const state = new Map()
  const trail = []
  const found = []
  const visit = (path) => {
    state.set(path, 'open')
    trail.push(path)
    for (const next of graph.get(path) ?? []) {
      if (state.get(next) === 'open') found.push(trail.slice(trail.indexOf(next)))
      else if (!state.has(next)) visit(next)
    }
    trail.pop()
    state.set(path, 'done')
  }
  for (const path of graph.keys()) if (!state.has(path)) visit(path)
  return found
}

/** The sources below some folders of a tree, with their text. Skips types that came without a package. */
export const sourcesIn = (root, folders = ['src', 'ui/src']) =>
  folders
    .flatMap((folder) =>
      readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
    )
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
    .map((path) => ({ path, text: readFileSync(`${root}/${path}`, 'utf8') }))

/** Invariant ids (header lines like ` * task-1  …`) that two files define. */
export const sharedInvariants = (files) => {
  const owners = new Map()
  for (const { path, text } of files) {
    const header = /^\/\*\*[\s\S]*?\*\//.exec(text)?.[0] ?? ''
    for (const [, id] of header.matchAll(/^ \* ([a-z][a-z-]*-\d+) {2}/gm))
      owners.set(id, [...(owners.get(id) ?? []), path])
  }
  return [...owners].flatMap(([id, paths]) => (paths.length > 1 ? [`${id} of ${paths.join(' and ')}`] : []))
}

/** The maximum number of sources in one folder; tests beside them do not count. */
export const FOLDER_LIMIT = 28

export const folderSizes = (files) => {
  const sizes = new Map()
  for (const { path } of files.filter((file) => !isTest(file.path))) {
    const folder = posix.dirname(path)
    sizes.set(folder, (sizes.get(folder) ?? 0) + 1)
  }
  return [...sizes].sort(([, one], [, other]) => other - one)
}
