/** Files that agents have left, over HTTP: served only with the run that names them, and never as a page. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { authSettings } from '#http/access/auth-settings.ts'
import { agent } from '#manifest/define/agents.ts'
import { ROLES } from '#model/access/identity.ts'
import { called, paidModel, said } from '#test/support/agents/agents.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

const PAGE = '<script>alert("Grüße")</script>'
const AUTH = authSettings({ host: '127.0.0.1', publicUrl: 'https://th.example' }, 'k'.repeat(32))

let app: HttpApp
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trihand-artifacts-'))
})
afterEach(async () => {
  await app.close()
  rmSync(folder, { recursive: true, force: true })
})

const open = async (auth?: typeof AUTH): Promise<void> => {
  const model = paidModel((_, turn) =>
    turn === 0 ? called(['Write', { file_path: 'out/größe.html', content: PAGE }]) : said('done'),
  )
  const options = { instructions: 'Write.', trigger: 'go', allowedTools: ['Write'], artifacts: ['out/größe.html'] }
  const source = { name: 'press', events: { go: null }, agents: [agent('writer', options)] }
  const agents = { models: model, workspaces: folder }
  app = await openApp(source, undefined, auth === undefined ? { agents } : { agents, auth })
}

const headersOf = async (tenant: string): Promise<Readonly<Record<string, string>>> => {
  const intent = { tenant, name: tenant, kind: 'user', roles: ROLES, groups: [] }
  return { authorization: `Bearer ${(await app.trihand.tokens.create(intent, 'test')).token}` }
}

/** Returns the hash from the facts of the run. */
const leftBy = async (run: string, headers: Readonly<Record<string, string>> = {}): Promise<string> => {
  const { items } = (await app.ask(`/api/runs/${run}/facts?limit=200`, { headers })).body
  const found = /"hash":"([^"]+)"[^}]*"media_type"/.exec(JSON.stringify(items))
  return found?.[1] ?? 'none'
}

test('[B5] an artifact is served as an attachment with its name, never as a page, whatever it contains', async () => {
  await open()
  const run = await app.started('go')
  expect((await app.when(run, 'success')).status).toBe('success')
  const { status, headers, text } = await app.ask(`/api/artifacts/${await leftBy(run)}?run=${run}`)
  expect([status, text]).toEqual([200, PAGE])
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': "attachment; filename*=UTF-8''gr%C3%B6%C3%9Fe.html",
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  })
})

test('[B5] a hash alone gives no access: the run must name it, and belong to the caller', async () => {
  await open(AUTH)
  const [acme, bolt] = [await headersOf('acme'), await headersOf('bolt')]
  const begin = async (headers: Readonly<Record<string, string>>): Promise<string> =>
    (await app.post('/api/events', { type: 'go', data: {} }, headers)).body.runs[0]
  const [own, other] = [await begin(acme), await begin(bolt)]
  const hash = await until(
    () => leftBy(own, acme),
    (found) => found !== 'none',
    { what: 'the agent has left its file' },
  )
  const get = (run: string, headers: Readonly<Record<string, string>>) =>
    app.ask(`/api/artifacts/${hash}?run=${run}`, { headers })
  expect((await get(own, acme)).status).toBe(200)
  expect((await get(own, bolt)).body).toMatchObject({ status: 404, code: 'NOT_FOUND' })
  expect((await app.ask(`/api/artifacts/unknown?run=${other}`, { headers: bolt })).body).toMatchObject({ status: 404 })
  expect((await app.ask(`/api/artifacts/${hash}`, { headers: acme })).body).toMatchObject({ code: 'QUERY_UNKNOWN' })
})
