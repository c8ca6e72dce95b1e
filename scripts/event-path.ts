/**
 * `node .build/scripts/event-path.js`: prints, as JSON, the files and functions of `src/` that one event runs from its POST to the end of
 * its run, and that one decision runs from its POST to the end of the run that asked for it.
 *
 * Measured with V8's precise coverage, counted from the moment before the request, on a SQLite file, after one warm-up request: what the
 * first request loads or compiles is not counted. A called closure counts as a function of its file.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { human } from '#manifest/human/humans.ts'
import type { TaskId } from '#model/kernel/ids.ts'

const SOURCES = fileURLToPath(new URL('../src/', import.meta.url))
const ADDRESS = 'http://127.0.0.1'

/** How often the call stack of a step's body crosses between the engine and an executor. */
let crossings = 0

const crossingsIn = (stack: string): number => {
  const rooms = [...stack.matchAll(/\/src\/(engine|executors)\//g)].map(([, room]) => room)
  return rooms.filter((room, at) => at > 0 && room !== rooms[at - 1]).length
}

const system = {
  name: 'event path',
  events: { 'order.paid': null },
  functions: [
    fn('ship', { trigger: 'order.paid' }, async ({ step }) => {
      const sum = await step.run('sum', () => {
        Error.stackTraceLimit = 200
        crossings = crossingsIn(new Error('where').stack ?? '')
        return 1
      })
      return sum
    }),
  ],
  humans: [human('approve', { title: 'Ship it?', assign: 'user:ana' })],
}

const ended = (app: Trihand, handler: string): Promise<void> =>
  new Promise((resolve) => {
    const off = app.on((notice) => {
      if (notice.handler !== handler || notice.status !== 'success') return
      off()
      resolve()
    })
  })

const post = async (app: Trihand, path: string, body: unknown, type = 'application/json'): Promise<void> => {
  const request = new Request(`${ADDRESS}${path}`, {
    method: 'POST',
    headers: { 'content-type': type, 'x-trihand-user': 'ana' },
    body: JSON.stringify(body),
  })
  const answer = await app.fetch(request, { address: '127.0.0.1' })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
}

let sent = 0
const anEvent = async (app: Trihand): Promise<void> => {
  const over = ended(app, 'ship')
  await post(
    app,
    '/api/events',
    { specversion: '1.0', id: `e${sent++}`, source: 'shop', type: 'order.paid', data: {} },
    'application/cloudevents+json',
  )
  await over
}

const openTask = async (app: Trihand): Promise<{ readonly id: TaskId; readonly shown_hash: string }> => {
  await app.start('approve', {})
  for (;;) {
    await nextTurn()
    const answer = await app.fetch(new Request(`${ADDRESS}/api/tasks?all=true`), { address: '127.0.0.1' })
    const { items } = (await answer.json()) as { readonly items: readonly { readonly id: TaskId }[] }
    const [task] = items
    if (task === undefined) continue
    const whole = await app.fetch(new Request(`${ADDRESS}/api/tasks/${task.id}`), { address: '127.0.0.1' })
    return (await whole.json()) as { readonly id: TaskId; readonly shown_hash: string }
  }
}

const decide = async (
  app: Trihand,
  { id, shown_hash }: { readonly id: TaskId; readonly shown_hash: string },
): Promise<void> => {
  const over = ended(app, 'approve')
  await post(app, `/api/tasks/${id}/decision`, { action: 'approve', shown_hash })
  await over
}

interface Touched {
  readonly files: number
  readonly functions: number
  readonly rooms: Readonly<Record<string, number>>
}

const touchedBy = async (session: Session, work: () => Promise<void>): Promise<Touched> => {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  const rooms: Record<string, number> = {}
  let [files, functions] = [0, 0]
  for (const { url, functions: all } of result) {
    const path = url.startsWith('file:') ? fileURLToPath(url) : url
    if (!path.startsWith(SOURCES)) continue
    const called = all.filter(
      ({ functionName, ranges }) =>
        (functionName !== '' || ranges[0]?.startOffset !== 0) && (ranges[0]?.count ?? 0) > 0,
    )
    if (called.length === 0) continue
    const room = path.slice(SOURCES.length).split('/')[0] ?? ''
    rooms[room] = (rooms[room] ?? 0) + 1
    files += 1
    functions += called.length
  }
  return { files, functions, rooms }
}

const folder = mkdtempSync(join(tmpdir(), 'trihand-event-path-'))
const app = await createTrihand({ system, database: join(folder, 'ledger.db'), commands: false })
const session = new Session()
session.connect()
await session.post('Profiler.enable')
try {
  await anEvent(app)
  await decide(app, await openTask(app))
  const event = await touchedBy(session, () => anEvent(app))
  const task = await openTask(app)
  const decision = await touchedBy(session, () => decide(app, task))
  process.stdout.write(`${JSON.stringify({ event, decision, crossings })}\n`)
} finally {
  session.disconnect()
  await app.close()
  rmSync(folder, { recursive: true, force: true })
}
