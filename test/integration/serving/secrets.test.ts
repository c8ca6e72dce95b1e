/** Secrets of the environment in every output that a user can reach: the ledger's files, HTTP, the stream, the log, errors. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildCommand, Folder, type Server } from '#test/support/serving/command.ts'
import { until } from '#test/support/until.ts'

const CANARY = 'c4nary/of "this" house+1'
const PASSWORD = 'hunter2-is-long'
/** A key recognised only by its form: no variable contains it. */
const KEY = `sk-ant-${'k1'.repeat(16)}`

const SYSTEM = `
import { defineSystem, fn } from 'trihand'
const key = process.env.PAYMENT_TOKEN
const modelKey = 'sk-ant-' + 'k1'.repeat(16)
export default defineSystem({
  name: 'secrets',
  events: { 'key.leaked': null },
  functions: [
    fn('returns', {}, async ({ step }) => {
      const told = await step.run('ask', () => ({ key, url: 'https://x.example/?k=' + encodeURIComponent(key) }))
      const basic = await step.run('basic', () => 'Basic ' + Buffer.from('user:' + key).toString('base64'))
      return { told, basic, key: modelKey }
    }),
    fn('throws', { retry: { maxAttempts: 1 } }, () => {
      throw new Error('401 for https://user:' + key + '@pay.example with ' + modelKey + ' at ' + process.env.BOOKS_URL)
    }),
    fn('sends', {}, async ({ emit, step }) => {
      emit('key.leaked', { key })
      await step.run('keep', ({ write }) => write('keys', 'one', { key }))
    }),
    fn('hears', { trigger: 'key.leaked' }, ({ event }) => event.data.key),
  ],
})
`

const SPELLINGS = [
  CANARY,
  JSON.stringify(CANARY).slice(1, -1),
  encodeURIComponent(CANARY),
  Buffer.from(`user:${CANARY}`).toString('base64').slice(8, -4),
  PASSWORD,
  KEY,
]
const leaksIn = (text: string): readonly string[] => SPELLINGS.filter((one) => text.includes(one))

beforeAll(buildCommand, 120_000)

const env = { PAYMENT_TOKEN: CANARY, BOOKS_URL: `postgres://books:${PASSWORD}@db.example/books` }
let folder: Folder
let server: Server
beforeAll(async () => {
  folder = new Folder({ 'system.ts': SYSTEM })
  server = await folder.serve(['dev', '.', '--port', '0'], { env })
})
afterAll(() => folder.remove())

const get = async (path: string): Promise<string> => (await fetch(`${server.url}${path}`)).text()
const post = async (path: string, body: unknown): Promise<string> =>
  (
    await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  ).text()

test('[S15] a secret that is returned, thrown, sent, stored or received appears in no fact, file, answer or log (13.3.3)', async () => {
  const started: string[] = []
  for (const name of ['returns', 'throws', 'sends']) {
    const { id } = JSON.parse(await post('/api/runs', { name, input: { note: `with ${CANARY}` } }))
    started.push(id)
  }
  await post('/api/events', {
    type: 'key.leaked',
    data: { key: `from outside: ${CANARY}`, nested: [{ [CANARY]: KEY }] },
  })
  const answers = await Promise.all(started.map((id) => get(`/api/runs/${id}?wait=20s`)))
  const [returned = '', thrown = '', sent = ''] = answers
  expect(JSON.parse(returned)).toMatchObject({ status: 'success' })
  expect(returned).toContain('[redacted:PAYMENT_TOKEN]')
  expect(JSON.parse(thrown)).toMatchObject({ status: 'failed' })
  expect(thrown).toContain('[redacted:BOOKS_URL]')
  expect(thrown).toContain('[redacted:anthropic_key]')
  expect(JSON.parse(sent)).toMatchObject({ status: 'success' })
  await until(
    () => get('/api/runs?handler=hears'),
    (list) => list.split('"success"').length === 3,
    { what: 'both events were heard' },
  )

  const paths = ['/api/runs', '/api/events', '/api/configuration', '/metrics', '/api/tasks', '/health']
  const pages = await Promise.all(
    [...paths, ...started.flatMap((id) => [`/api/runs/${id}/facts`, `/api/runs/${id}/steps`])].map(get),
  )
  const refusal = await post('/api/runs', { name: `no ${CANARY}` })
  const output = await folder.run(['runs', 'show', started[1] as string], { env })
  for (const text of [...answers, ...pages, refusal, output.stdout, output.stderr]) expect(leaksIn(text)).toEqual([])

  const { stdout, stderr } = await server.stop()
  expect(leaksIn(stdout + stderr)).toEqual([])
  const data = join(folder.path, '.trihand')
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const dirty = files.filter((entry) => leaksIn(readFileSync(join(entry.parentPath, entry.name), 'latin1')).length > 0)
  expect(dirty.map(({ name }) => name)).toEqual([])
  expect(files.map(({ name }) => name)).toContain('trihand.db')
}, 60_000)

test('[S15] a misspelled setting is refused at start, with the nearest name (13.3.3)', async () => {
  const { code, stderr } = await folder.run(['dev', '--port', '0'], { env: { TRIHAND_SLOTZ: '4' }, apart: true })
  expect(code).toBe(2)
  expect(stderr).toContain('TRIHAND_SLOTZ is not a setting; did you mean TRIHAND_SLOTS?')
})
