/** The socket: its port, its address, and how it closes. */
import { afterEach, describe, expect, test } from 'vitest'
import { type Listening, listen } from './server.ts'

const fetch = (): Response => new Response('hello')
const open: Listening[] = []
/** Recorded before any server was created. */
const GLOBALS = [globalThis.Request, globalThis.Response]

const listening = async (port: number | null): Promise<Listening> => {
  const server = await listen({ fetch, port })
  open.push(server)
  return server
}

afterEach(async () => {
  for (const server of open.splice(0)) await server.stop()
})

describe('a server', () => {
  test('takes the first free port of the usual ten, and answers on loopback', async () => {
    const [first, second] = [await listening(null), await listening(null)]
    expect(first.port).toBeGreaterThanOrEqual(4400)
    expect(second.port).toBeGreaterThan(first.port)
    expect(first.url).toBe(`http://127.0.0.1:${first.port}`)
    expect(await (await globalThis.fetch(second.url)).text()).toBe('hello')
  })

  test('takes a given port or refuses it', async () => {
    const { port } = await listening(0)
    await expect(listening(port)).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      detail: expect.stringContaining(String(port)),
    })
  })

  test('reports an invalid port as a configuration error', async () => {
    await expect(listening(70_000)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  test('leaves the global Request and Response alone', async () => {
    await listening(0)
    expect([globalThis.Request, globalThis.Response].map((found, i) => found === GLOBALS[i])).toEqual([true, true])
  })

  test('stops although a connection is kept alive, and may be stopped twice', async () => {
    const server = await listening(0)
    await (await globalThis.fetch(server.url, { headers: { connection: 'keep-alive' } })).text()
    await Promise.all([server.stop(), server.stop()])
    await expect(globalThis.fetch(server.url)).rejects.toThrow()
  })
})
