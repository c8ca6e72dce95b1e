/**
 * A stand-in for Inngest's SDK where the real one is not installed: the same calls and protocol, nothing else.
 *
 * Owns the app's side of the protocol. The same tests in compat/inngest prove that it behaves like the real one.
 */
import type { InngestClient, InngestFunctionOptions, InngestServe } from '#adapters/dispatch/inngest/sdk.ts'
import type { InngestServer } from './inngest-server.ts'

type Handler = Parameters<InngestClient['createFunction']>[1]

interface StandInFunction {
  readonly options: InngestFunctionOptions
  readonly handler: Handler
}

export class StandInClient implements InngestClient {
  readonly id = 'stand-in'
  readonly #events: string

  constructor(server: InngestServer) {
    this.#events = `${server.url}/e/${server.eventKey}`
  }

  createFunction(options: InngestFunctionOptions, handler: Handler): StandInFunction {
    return { options, handler }
  }

  async send(events: Parameters<InngestClient['send']>[0]): Promise<void> {
    const response = await fetch(this.#events, { method: 'POST', body: JSON.stringify(events) })
    if (!response.ok) throw new Error(`events were answered with ${response.status}`)
  }
}

const json = (status: number, body: unknown): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })

const configOf = (app: string, { options }: StandInFunction, url: string) => {
  const id = `${app}-${options.id}`
  const runtime = { type: 'http', url: `${url}?fnId=${id}&stepId=step` }
  const step = { id: 'step', name: 'step', runtime, retries: { attempts: options.retries } }
  return { id, name: options.name, triggers: options.triggers, steps: { step } }
}

export const standInServe: InngestServe<StandInClient> = ({ client, functions }) => {
  const known = functions as readonly StandInFunction[]
  return async (request) => {
    if (request.method === 'GET') return json(200, { function_count: known.length, mode: 'cloud' })
    const body = (await request.json()) as { readonly url: string; readonly event: { readonly data: unknown } }
    if (request.method === 'PUT')
      return json(200, { app_id: client.id, functions: known.map((fn) => configOf(client.id, fn, body.url)) })
    const called = new URL(request.url).searchParams.get('fnId')
    const fn = known.find(({ options }) => `${client.id}-${options.id}` === called)
    if (fn === undefined) return json(500, { message: `Function "${called}" was not found in this app` })
    await fn.handler({ event: body.event })
    return json(200, null)
  }
}
