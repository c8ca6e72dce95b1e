/** The README is true: its sample compiles, its pictures and proofs exist, its figures are those of the last run. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, expect, test, vi } from 'vitest'
import type { Trihand } from '#compose/assemble.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { PROJECT, temporaryFolder } from '#test/support/places.ts'
import { until } from '#test/support/until.ts'

const README = readFileSync(join(PROJECT, 'README.md'), 'utf8')
const MOST_LINES = 150

afterEach(() => vi.unstubAllEnvs())

/** Declarations that the sample leaves out. */
const AROUND = `
interface Mail { readonly thread: number; readonly text: string }
declare const deliver: (mail: Mail, key: string) => Promise<void>
`

const CONFIG = {
  extends: join(PROJECT, 'tsconfig.json'),
  compilerOptions: {
    noEmit: true,
    typeRoots: [join(PROJECT, 'node_modules/@types')],
    paths: { trihand: [join(PROJECT, 'src/index.ts')] },
  },
  include: ['sample.ts', join(PROJECT, 'src/**/*.d.ts')],
}

const sample = /```ts\n([\s\S]*?)```/.exec(README)?.[1] ?? ''

test('the sample of the README compiles', () => {
  expect(sample).toContain("from 'trihand'")
  const { path, remove } = temporaryFolder('readme')
  writeFileSync(join(path, 'package.json'), '{"type":"module"}')
  writeFileSync(join(path, 'sample.ts'), sample + AROUND)
  writeFileSync(join(path, 'tsconfig.json'), JSON.stringify(CONFIG))
  const { stdout, status } = spawnSync(
    process.execPath,
    [join(PROJECT, 'node_modules/typescript/bin/tsc'), '-p', path],
    {
      encoding: 'utf8',
    },
  )
  remove()
  expect(stdout).toBe('')
  expect(status).toBe(0)
})

/** Without an API key a model answers from a script. */
const SCRIPT = "  scripts: { drafter: { answers: [{ json: { thread: 7, text: 'It is on its way.' } }] } },\n"
const PARTS = `
interface Mail { readonly thread: number; readonly text: string }
export const delivered: Mail[] = []
async function deliver(mail: Mail, _key: string): Promise<void> { delivered.push(mail) }
export { app }
`

const ANA = { id: 'ana', kind: 'user', groups: ['support'] } as const
const EVERYBODY = { addresses: null, viewer: null, status: null, type: null, claimedBy: null, run: null } as const
const OPEN_TASKS = { tenant: LOCAL_TENANT, isOpen: true, ...EVERYBODY, order: 'newest', after: null, limit: 9 } as const

test('the sample of the README works: a draft, a decision, one mail, an answer days later', async () => {
  const { path, remove } = temporaryFolder('readme-run')
  const served = sample.replace('createServer(app', 'export const server = createServer(app')
  const source = served.replace("from 'trihand'", `from '${join(PROJECT, 'src/index.ts')}'`)
  writeFileSync(join(path, 'sample.ts'), source.replace("name: 'support',\n", (name) => name + SCRIPT) + PARTS)
  vi.stubEnv('DATABASE_URL', 'memory:')
  vi.stubEnv('PORT', '0')
  const ran = await import(/* @vite-ignore */ pathToFileURL(join(path, 'sample.ts')).href)
  const { app, server, delivered } = ran as {
    readonly app: Trihand
    readonly server: Server
    readonly delivered: readonly unknown[]
  }
  const [task] = await until(
    () => app.reader.tasks(OPEN_TASKS),
    (tasks) => tasks.length === 1,
    { what: 'the draft waits for a person' },
  )
  if (task === undefined) throw new Error('there is no task')
  const { port } = server.address() as AddressInfo
  const inbox = await fetch(`http://127.0.0.1:${port}/trihand/api/tasks`)
  expect(await inbox.json()).toMatchObject({ items: [{ id: task.id, status: 'pending' }] })
  const { state } = await app.tasks.show(task.id)
  const shownHash = state.kind === 'open' ? state.hash : ''
  await app.tasks.submit(task.id, ANA, { action: 'approve', reason: null, shownHash })
  await app.send({ type: 'mail.received', id: 'mail-8', data: { thread: 7, text: 'Thank you!' } })
  const [closed] = await until(
    () => app.reader.events({ tenant: LOCAL_TENANT, type: 'thread.closed', before: null, limit: 1 }),
    (events) => events.length === 1,
    { what: 'the thread is closed' },
  )
  expect(delivered).toEqual([{ thread: 7, text: 'It is on its way.' }])
  expect(closed?.data).toEqual({ thread: 7, answered: true })
  server.close()
  server.closeAllConnections()
  await app.close()
  remove()
})

/** Rows whose proof is a test file, with the feature ids that its titles must contain. */
const proofs = [...README.matchAll(/^\| .* \| (.*`test\/[\w/-]+\.test\.ts`.*\[.*) \|$/gm)].map(([, cell = '']) => ({
  files: [...cell.matchAll(/`(test\/[\w/.-]+)`/g)].map(([, file = '']) => file),
  ids: [...cell.matchAll(/\[([A-Z]+\d+)\]/g)].map(([, id = '']) => id),
}))

test('each promise of the README is named by a test of the linked file', () => {
  expect(proofs.length).toBeGreaterThan(8)
  for (const { files, ids } of proofs) {
    const text = files.map((file) => readFileSync(join(PROJECT, file), 'utf8')).join('\n')
    for (const id of ids)
      expect([files, id, new RegExp(`test(\\.each)?\\([\\s\\S]*?\\[${id}\\]`).test(text)]).toEqual([files, id, true])
  }
})

test('the README is short, and every file that it names exists', () => {
  expect(README.split('\n').length).toBeLessThanOrEqual(MOST_LINES)
  const named = [...README.matchAll(/`((?:docs|test|src|examples)\/[\w./-]+)`|\]\((docs\/[^)]+)\)/g)]
  const paths = named.map(([, quoted, linked]) => quoted ?? linked ?? '')
  expect(paths.length).toBeGreaterThan(10)
  expect(paths.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([])
})

test('its figures are those of the last measured run', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(PROJECT, 'scripts/numbers.mjs'), '--check'], {
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  expect(status).toBe(0)
})
