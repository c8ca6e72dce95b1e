/**
 * A host with an isolated module whose code tries every way out (escapes.ts), and the outside world that it would reach.
 *
 * Owns the verdict: a way is open if its code returns evidence. Effects without an answer (a connection, an event, a file) are looked for
 * outside.
 */
import { createSocket } from 'node:dgram'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createTrihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { defineSystem } from '#manifest/define/define.ts'
import { fastFolder } from '#test/support/places.ts'
import { ESCAPES, type EscapeWorld } from './escapes.ts'

export interface Tried {
  readonly group: string
  readonly name: string
  readonly isOpen: boolean
  /** What blocked it, or what got through. */
  readonly by: string
}

export interface Tries {
  readonly tried: readonly Tried[]
  /** Effects seen outside that should not exist. */
  readonly seen: readonly string[]
}

const PACKAGE = `
exports.Module = module.constructor
exports.file = __filename
exports.require = require
exports.get = (name) => require(name)
`

const codeOf = (world: EscapeWorld): string => `
const world = ${JSON.stringify(world)}
const ways = [
${ESCAPES.map(({ code }) => `async (said) => { ${code} },`).join('\n')}
]
export default async ({ input }) => {
  const nothing = new Promise((done) => setTimeout(done, 1000, undefined))
  try {
    const found = await Promise.race([ways[input](), nothing])
    return found ? { open: String(found).slice(0, 80) } : { by: 'nothing is there' }
  } catch (error) {
    return { by: String(error?.code ?? error?.cause?.code ?? error?.name) }
  }
}
`

const BY: Readonly<Record<string, string>> = {
  ERR_ACCESS_DENIED: 'permissions',
  MODULE_DENIED: 'guard',
  EACCES: 'guard',
  URL_BLOCKED: 'guarded fetch',
}

const listening = (listen: (done: () => void) => void): Promise<void> => new Promise((done) => listen(done))

export const tryEscapes = async (node: string): Promise<Tries> => {
  const place = fastFolder('escapes')
  const seen: string[] = []
  const tcp = createServer((socket) => {
    seen.push('a TCP connection')
    socket.destroy()
  })
  const unix = createServer((socket) => {
    seen.push('a unix connection')
    socket.destroy()
  })
  const udp = createSocket('udp4', () => seen.push('a UDP packet'))
  const socket = join(place.path, 'host.sock')
  await listening((done) => tcp.listen(0, '127.0.0.1', done))
  await listening((done) => unix.listen(socket, done))
  await listening((done) => udp.bind(0, '127.0.0.1', done))
  const address = tcp.address()
  const world: EscapeWorld = {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    udpPort: udp.address().port,
    ...{ socket, outside: join(place.path, 'outside.txt'), fresh: join(place.path, 'fresh'), hostPid: process.pid },
  }
  const files = {
    'outside.txt': 'MARK=outside\n',
    'outside.json': '{"a":1}',
    'modules/hostile/escape.js': codeOf(world),
    'modules/hostile/node_modules/pkg/index.js': PACKAGE,
    'modules/other/other.js': 'export default () => 1\n',
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(place.path, path, '..'), { recursive: true })
    writeFileSync(join(place.path, path), text)
  }
  process.env['ESCAPE_SECRET'] = 'escape-secret-1234'
  const once = { retry: { maxAttempts: 1 } }
  const app = await createTrihand({
    system: defineSystem({
      ...{ name: 'hostile', folder: place.path, open: true },
      modules: [
        // Allowed host names; the private addresses behind them stay blocked.
        {
          ...{ name: 'hostile', isolation: 'process', functions: ['escape'] },
          allow: {
            operations: ['api_call'],
            hosts: ['127.0.0.1', 'localhost', 'localtest.me', '169.254.169.254', '*'],
          },
        },
        { name: 'other', isolation: 'process', functions: ['other'] },
      ],
      functions: [fn('escape', once, { file: 'escape.js' }), fn('other', once, { file: 'other.js' })],
    }),
    database: 'memory:',
    isolation: { processes: 1, node },
  })
  const tried: Tried[] = []
  for (const [n, { group, name }] of ESCAPES.entries()) {
    const { output, error } = await app.call('escape', n)
    const { open, by = '' } = (output ?? {}) as { readonly open?: string; readonly by?: string }
    const reason = BY[by] ?? (by === '' ? (error?.code ?? 'nothing is there') : by)
    tried.push({ group, name, isOpen: open !== undefined, by: open ?? reason })
  }
  const events = await app.reader.events({ tenant: app.tenant, type: 'forged.event', before: null, limit: 1 })
  if (events.length > 0) seen.push('an event that was forged')
  if ((await app.reader.document(app.tenant, 'forged', '1')) !== null) seen.push('a document that was forged')
  const others = { tenant: app.tenant, status: null, handler: 'other', before: null, limit: 1 }
  if ((await app.reader.runs(others)).length > 0) seen.push('a run of another module')
  if ('polluted' in {}) seen.push('a prototype of the host')
  if (existsSync(world.fresh)) seen.push('a file outside')
  if (readFileSync(world.outside, 'utf8') !== files['outside.txt']) seen.push('a file that was changed')
  await app.close()
  delete process.env['ESCAPE_SECRET']
  await Promise.all([tcp, unix].map((server) => new Promise((done) => server.close(done))))
  udp.close()
  place.remove()
  return { tried, seen }
}
