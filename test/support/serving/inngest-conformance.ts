/**
 * The conformance suite of Inngest as dispatcher for any SDK, over real HTTP, including which calls are accepted.
 *
 * Owns the tests. Called with the stand-in here and with the real SDK in compat/inngest.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inngest } from '#adapters/dispatch/inngest/inngest.ts'
import type { InngestClient, InngestServe } from '#adapters/dispatch/inngest/sdk.ts'
import { SystemClock } from '#adapters/system/clock.ts'
import { type Listening, listen } from '#http/server/server.ts'
import type { ClaimableId } from '#model/kernel/ids.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'
import { until } from '#test/support/until.ts'
import { dispatcherSuite } from '#testing/dispatcher-suite.ts'
import { newRun } from '#testing/ledger/builders.ts'
import { InngestServer } from './inngest-server.ts'

export interface Sdk<Client extends InngestClient> {
  readonly client: Client
  readonly serve: InngestServe<Client>
}

const clock = new SystemClock({ keepsAlive: false })

/** An Inngest server, an app of ours that it knows, and the connection between them. */
const open = async <Client extends InngestClient>(sdkFor: (server: InngestServer) => Sdk<Client>) => {
  const server = new InngestServer()
  await server.open()
  const { dispatcher, endpoint } = await inngest({ ...sdkFor(server), signingKey: server.signingKey })(clock)
  if (endpoint === null) throw new Error('Inngest needs a door')
  const app: Listening = await listen({ fetch: (request) => endpoint.answer(request), port: 0 })
  const url = `${app.url}${endpoint.path}`
  const close = async (): Promise<void> => {
    await dispatcher.stop()
    await server.close()
    await app.stop()
  }
  return { server, dispatcher, url, close }
}

const startReceiving = async (dispatcher: Dispatcher): Promise<ReadonlySet<ClaimableId>> => {
  const received = new Set<ClaimableId>()
  await dispatcher.start((run) => received.add(run))
  return received
}

export const inngestConformance = <Client extends InngestClient>(
  title: string,
  sdkFor: (server: InngestServer) => Sdk<Client>,
): void => {
  dispatcherSuite(`inngest, ${title}`, async () => {
    const { server, dispatcher, url, close } = await open(sdkFor)
    await server.sync(url)
    return {
      dispatcher,
      clock,
      close,
      until: async (holds) => void (await until(holds, Boolean, { timeoutMs: 20_000, everyMs: 200 })),
    }
  })

  describe(`inngest, ${title}`, () => {
    let current: Awaited<ReturnType<typeof open<Client>>>
    beforeEach(async () => {
      current = await open(sdkFor)
    })
    afterEach(() => current.close())

    test('a signed sync lists one function, and a signed introspection is answered', async () => {
      const { server, url } = current
      expect(await server.sync(url)).toBe(1)
      expect((await server.call('GET', url, null)).status).toBe(200)
    })

    test.each([
      ['GET', ''],
      ['POST', '{}'],
      ['PUT', '{"url":"http://127.0.0.1"}'],
    ])('[S22] inngest-endpoint-1: an unsigned %s is answered with 401', async (method, text) => {
      const response = await fetch(current.url, { method, ...(method === 'GET' ? {} : { body: text }) })
      expect(response.status).toBe(401)
    })

    test('[S22] inngest-signature-1: another key, another body or an old signature is answered with 401', async () => {
      const { server, dispatcher, url } = current
      const received = await startReceiving(dispatcher)
      const body = { event: { name: 'trihand/run.wake', data: { run: newRun(), at: 0 } } }
      const forged = [
        `t=${Math.round(Date.now() / 1_000)}&s=${'0'.repeat(64)}`,
        server.sign('{"another":"body"}'),
        server.sign(JSON.stringify(body), Date.now() - 400_000),
        'nonsense',
      ]
      for (const signature of forged)
        expect((await server.call('POST', url, body, { 'x-inngest-signature': signature })).status).toBe(401)
      expect(received.size).toBe(0)
    })

    test.each(['DELETE', 'PATCH', 'OPTIONS'])('[S22] inngest-endpoint-1: %s is answered with 405', async (method) => {
      expect((await current.server.call(method, current.url, {})).status).toBe(405)
    })

    test('a process that has not started answers 503, and accepts the repeated call once it has', async () => {
      const { server, dispatcher, url } = current
      await server.sync(url)
      const run = newRun()
      dispatcher.wake(run, clock.now())
      await until(
        () => server.statuses,
        (statuses) => statuses.includes(503),
      )
      const received = await startReceiving(dispatcher)
      await until(() => {
        dispatcher.wake(run, clock.now())
        return received.has(run)
      }, Boolean)
      await until(
        () => server.statuses,
        (statuses) => statuses.some((status) => status >= 200 && status < 300),
      )
    })

    test('300 wakes of one turn are all delivered, in batches', async () => {
      const { server, dispatcher, url } = current
      await server.sync(url)
      const received = await startReceiving(dispatcher)
      for (let i = 0; i < 300; i++) dispatcher.wake(newRun(), clock.now())
      await until(
        () => received.size,
        (size) => size === 300,
        { timeoutMs: 50_000 },
      )
    })
  })
}
