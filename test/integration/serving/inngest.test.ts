/** Inngest as dispatcher: the request protocol over real HTTP with a stand-in for the SDK, and the endpoint on our own server. */
import { afterEach, describe, expect, test } from 'vitest'
import { inngest } from '#adapters/dispatch/inngest/inngest.ts'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { HttpApp } from '#test/support/serving/http-app.ts'
import { inngestConformance } from '#test/support/serving/inngest-conformance.ts'
import { StandInClient, standInServe } from '#test/support/serving/inngest-sdk.ts'
import { InngestServer } from '#test/support/serving/inngest-server.ts'

inngestConformance('a stand-in for the SDK', (server) => ({ client: new StandInClient(server), serve: standInServe }))

const options = (server: InngestServer) => ({
  client: new StandInClient(server),
  serve: standInServe,
  signingKey: server.signingKey,
})

describe('inngest on our HTTP server', () => {
  let trihand: Trihand | null = null
  afterEach(() => trihand?.close())

  test('[S22] the endpoint is mounted at its configured path, and refuses unsigned calls', async () => {
    const server = new InngestServer()
    await server.open()
    const dispatcher = inngest({ ...options(server), path: '/hooks/inngest' })
    trihand = await createTrihand({ system: { name: 'shop', functions: [] }, database: 'memory:', dispatcher })
    const app = new HttpApp(trihand, (service) => service)
    const signed = { 'x-inngest-signature': server.sign('') }
    expect((await app.open('/hooks/inngest', { headers: signed })).status).toBe(200)
    expect((await app.open('/hooks/inngest')).status).toBe(401)
    expect((await app.open('/hooks/inngest', { method: 'DELETE' })).status).toBe(405)
    expect((await app.ask('/api/inngest', { headers: signed })).status).toBe(404)
    await server.close()
  })

  test.each([
    ['an empty signing key', { signingKey: '' }, 'signingKey is empty'],
    ['a path that is none', { path: 'api/inngest' }, 'path is api/inngest'],
    ['a name with spaces', { name: 'my shop' }, 'name is my shop'],
  ])('%s is CONFIG_INVALID', async (_, wrong, detail) => {
    const server = new InngestServer()
    await server.open()
    expect(() => inngest({ ...options(server), ...wrong })).toThrow(detail)
    await server.close()
  })
})
