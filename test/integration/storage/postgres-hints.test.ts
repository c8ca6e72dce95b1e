/** A server beside workers on one Postgres: it sees commits of a worker at once, without waiting for the next poll. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { createApp } from '#http/server/app.ts'
import { chatWorld, decider } from '#test/support/agents/chat.ts'
import { type FreshSchema, freshSchema } from '#test/support/stores/postgres-schema.ts'

const cluster = process.env['TRIHAND_TEST_PG_URL'] ?? ''

describe.skipIf(cluster === '')('a chat beside workers', () => {
  let place: FreshSchema
  let folder: string
  const opened: Trihand[] = []
  const ending = new AbortController()

  beforeEach(async () => {
    place = await freshSchema(cluster)
    folder = mkdtempSync(join(tmpdir(), 'trihand-hints-'))
  })
  afterEach(async () => {
    vi.useRealTimers()
    ending.abort()
    for (const one of opened.splice(0)) await one.close()
    await place.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  const open = async (work: boolean): Promise<Trihand> => {
    const agents = { models: decider(), workspaces: join(folder, 'workspaces') }
    const { source } = chatWorld()
    opened.push(await createTrihand({ system: source, database: place.url, work, drain: 0, folder, agents }))
    return opened.at(-1) as Trihand
  }

  test('[E10] a chat beside workers is answered by hints of their commits alone, without any poll (13.2.6)', async () => {
    await open(true)
    const server = await open(false)
    // The polls of a stream are intervals: none of them fires.
    vi.useFakeTimers({ toFake: ['setInterval'] })
    const options = { version: 'test', pid: 1, report: () => {}, configuration: [], ending: ending.signal }
    const app = createApp(server, options)
    for (let i = 0; i < 3; i++) {
      const response = await app.request('http://127.0.0.1/api/chat', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          id: `chat-${i}`,
          messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
        }),
      })
      expect(await response.text()).toMatch(/You said: hi[\s\S]*\[DONE\]/)
    }
  })
})
