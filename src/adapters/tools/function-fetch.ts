/**
 * `fetch` inside functions of a module: the standard call, over the guarded way out (guarded-fetch.ts).
 *
 * Owns the one place where the global is changed. What a function may reach is handed in, for each entry of its code.
 *
 * function-fetch-1  Code outside of a guarded function calls the very fetch that it called before.
 * function-fetch-2  Guarded code calls the guarded one, at whatever time it took hold of `fetch` after the first guard was made.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { RawFetch, RawRequest } from '#ports/tool.ts'

type Fetch = typeof globalThis.fetch

const NO_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304])

/** A standard fetch over a guarded request: what comes in is read as a Request, what goes out is a Response. */
export const standardFetch =
  (request: RawRequest): Fetch =>
  async (input, init) => {
    const asked = new Request(input, init)
    const body = asked.body === null ? null : new Uint8Array(await asked.arrayBuffer())
    const { url, redirected, status, statusText, headers, bytes } = await request(asked.url, {
      method: asked.method,
      headers: Object.fromEntries(asked.headers),
      signal: asked.signal,
      redirect: asked.redirect as NonNullable<RawFetch['redirect']>,
      ...(body === null ? {} : { body }),
    })
    const pairs = headers.map(([name, value]): [string, string] => [name, value])
    const answer = new Response(NO_BODY.has(status) ? null : Buffer.from(bytes), { status, statusText, headers: pairs })
    Object.defineProperties(answer, { url: { value: url }, redirected: { value: redirected } })
    return answer
  }

const current = new AsyncLocalStorage<Fetch>()
let isInstalled = false

/** A property that answers by who asks: the host's own fetch stays what the host made of it. */
const install = (): void => {
  isInstalled = true
  const native = globalThis.fetch
  let own = native
  const chosen: Fetch = (...call) => (current.getStore() ?? own)(...call)
  Object.defineProperty(globalThis, 'fetch', {
    configurable: true,
    enumerable: true,
    get: () => (own === native || current.getStore() !== undefined ? chosen : own),
    set: (value: Fetch) => {
      // Put back by whoever had replaced it.
      own = value === chosen ? native : value
    },
  })
}

/** Once per process, before code of a module is loaded: code that keeps `fetch` at its load is then guarded, too. */
export const guardGlobalFetch = (): void => {
  if (!isInstalled) install()
}

/** Calls work, and all that it begins, with this fetch in the place of the global one. */
export const withFetch = <T>(fetch: Fetch, work: () => T): T => {
  guardGlobalFetch()
  return current.run(fetch, work)
}
