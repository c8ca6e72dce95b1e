/**
 * `npm run house [-- --json]`: the sources as data. Prints the largest folders and files, what one event and one decision touch (measured
 * by V8), and broken rules; draws which room imports which into docs/architecture.svg.
 *
 * Depends on the table of rooms (lib/rooms.mjs) and on `npm run build:tools` (scripts/event-path.ts). Exits with 1 on an import cycle, a
 * forbidden import, an invariant id with two owners or a folder over the limit; other limits are only printed with the measured value.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import dagre from '@dagrejs/dagre'
import {
  cyclesIn,
  FOLDER_LIMIT,
  folderSizes,
  importFaults,
  importGraph,
  sharedInvariants,
  sourcesIn,
} from './lib/rooms.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PICTURE = 'docs/architecture.svg'
const isTest = (path) => /\.test\.tsx?$/.test(path)
const linesOf = (text) => text.trimEnd().split('\n').length

/** The measured limits: [name, value, limit, whether it decides the exit code]. */
const LIMITS = { folder: FOLDER_LIMIT, files: 740, eventFiles: 90, eventFunctions: 420, crossings: 2, lint: 300 }

const files = sourcesIn(ROOT)
const sources = files.filter(({ path }) => !isTest(path))
const graph = importGraph(sources)
const faults = importFaults(files).map(({ path, source, why }) => `${path}: ${source}: ${why}`)
const circles = cyclesIn(importGraph(files)).map((circle) => [...circle, circle[0]].join(' > '))
const shared = sharedInvariants(sources)
const folders = folderSizes(files)
const longest = sources
  .filter(({ text }) => !/^\/\*\*[\s\S]*?do not edit/.test(text))
  .map(({ path, text }) => [path, linesOf(text)])
  .sort(([, one], [, other]) => other - one)

const measured = () => {
  const build = spawnSync(process.execPath, ['scripts/build-tools.mjs', '--if-changed'], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  if (build.status !== 0) throw new Error('the tools do not build')
  const { stdout, stderr, status } = spawnSync(process.execPath, ['.build/scripts/event-path.js'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the event path could not be measured: ${stderr}`)
  return JSON.parse(stdout)
}

/** A room of the picture: one folder below src/; for adapters, one level further down. */
const roomOf = (path) => {
  if (path.startsWith('ui/')) return 'ui'
  const [first, second, third] = path.slice(4).split('/')
  if (first === 'adapters' && third !== undefined) return `adapters/${second}`
  return second === undefined ? null : first
}

const roomEdges = () => {
  const counts = new Map()
  for (const [path, targets] of graph)
    for (const target of targets) {
      const [from, to] = [roomOf(path), roomOf(target)]
      if (from === null || to === null || from === to) continue
      counts.set(`${from} ${to}`, (counts.get(`${from} ${to}`) ?? 0) + 1)
    }
  return [...counts].map(([key, count]) => [...key.split(' '), count])
}

const roomSizes = () => {
  const sizes = new Map()
  for (const { path, text } of sources) {
    const room = roomOf(path)
    if (room === null) continue
    const size = sizes.get(room) ?? { files: 0, lines: 0 }
    sizes.set(room, { files: size.files + 1, lines: size.lines + linesOf(text) })
  }
  return sizes
}

const STYLE = `text{font:13px system-ui,sans-serif;fill:#1b1f24}.count{font-size:10px;fill:#57606a}.room{fill:#f6f8fa;stroke:#57606a}
path{fill:none;stroke:#8c959f}.head{fill:#8c959f;stroke:none}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.count{fill:#9198a1}.room{fill:#161b22;stroke:#9198a1}}`

const draw = () => {
  const drawing = new dagre.graphlib.Graph()
  drawing.setGraph({ rankdir: 'TB', nodesep: 28, ranksep: 64, marginx: 16, marginy: 16 })
  drawing.setDefaultEdgeLabel(() => ({}))
  for (const [room, size] of roomSizes())
    drawing.setNode(room, { room, ...size, width: Math.max(104, room.length * 8 + 24), height: 44 })
  for (const [from, to, count] of roomEdges()) drawing.setEdge(from, to, { count })
  dagre.layout(drawing)
  const edges = drawing.edges().map((edge) => {
    const { points, count } = drawing.edge(edge)
    const line = points.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${x.toFixed(0)} ${y.toFixed(0)}`).join('')
    const width = Math.min(6, 0.75 + Math.log2(count) / 2).toFixed(1)
    return `<path d="${line}" stroke-width="${width}" marker-end="url(#head)"><title>${edge.v} imports ${edge.w}: ${count}</title></path>`
  })
  const rooms = drawing.nodes().map((name) => {
    const { x, y, width, height, files: count, lines } = drawing.node(name)
    const [left, top] = [x - width / 2, y - height / 2]
    return `<rect class="room" x="${left.toFixed(0)}" y="${top.toFixed(0)}" width="${width}" height="${height}" rx="6"/><text x="${x.toFixed(0)}" y="${(y - 2).toFixed(0)}" text-anchor="middle">${name}</text><text class="count" x="${x.toFixed(0)}" y="${(y + 14).toFixed(0)}" text-anchor="middle">${count} files, ${lines} lines</text>`
  })
  const { width, height } = drawing.graph()
  const head =
    '<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker>'
  const title =
    '<title>Who imports whom: an arrow goes from a room to one that it sees; its width grows with the number of imports</title>'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}" role="img">${title}<style>${STYLE}</style><defs>${head}</defs>\n${[...edges, ...rooms].join('\n')}\n</svg>\n`
}

const { event, decision, crossings } = measured()
const rows = [
  ['sources in the largest folder', folders[0]?.[1] ?? 0, LIMITS.folder, true],
  ['source files', sources.length, LIMITS.files, false],
  ['files that one event touches', event.files, LIMITS.eventFiles, false],
  ['functions that one event touches', event.functions, LIMITS.eventFunctions, false],
  ['crossings between engine and executors above a step', crossings, LIMITS.crossings, true],
  ['lines of biome.json', linesOf(readFileSync(`${ROOT}/biome.json`, 'utf8')), LIMITS.lint, true],
  ['invariant ids with two owners', shared.length, 0, true],
  ['circles of imports', circles.length, 0, true],
  ['imports that the table refuses', faults.length, 0, true],
]

if (process.argv.includes('--json'))
  console.log(JSON.stringify({ rows, event, decision, folders: folders.slice(0, 10), longest: longest.slice(0, 10) }))
else {
  for (const [what, value, limit, must] of rows)
    console.log(
      `${what.padEnd(54)} ${String(value).padStart(6)}  at most ${String(limit).padStart(4)}  ${value <= limit ? 'holds' : must ? 'FAILS' : 'not reached'}`,
    )
  console.log(`\none decision touches ${decision.files} files, ${decision.functions} functions`)
  console.log(
    `one event, files by room: ${Object.entries(event.rooms)
      .map(([room, count]) => `${room} ${count}`)
      .join(', ')}`,
  )
  console.log('\nlargest folders (sources; tests beside them are not counted)')
  for (const [folder, size] of folders.slice(0, 8)) console.log(`${String(size).padStart(6)}  ${folder}`)
  console.log('\nlongest files (lines)')
  for (const [path, lines] of longest.slice(0, 8)) console.log(`${String(lines).padStart(6)}  ${path}`)
  for (const line of [...faults, ...circles, ...shared]) console.error(line)
}
writeFileSync(`${ROOT}/${PICTURE}`, draw())
process.exitCode = rows.some(([, value, limit, must]) => must && value > limit) ? 1 : 0
