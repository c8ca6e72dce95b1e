/**
 * `fetch` inside functions of a module: the standard call, over the guarded fetch (guarded-fetch.ts).
 *
 * Owns the one place where the global is changed. The caller passes in the fetch of each entry, which limits what the function can reach.
 *
 * function-fetch-1  Code outside of a guarded function calls exactly the fetch that it called before.
 * function-fetch-2  Guarded code calls the guarded fetch, even if it stored `fetch` in a variable at any time after the first guard was made.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { RawFetch, RawRequest } from '#ports/tool.ts'

type Fetch = typeof globalThis.fetch

const NO_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304])

/** A standard fetch over a guarded request: the input is read as a Request, the result is a Response. */
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

/** A property whose value depends on the caller: the host's own fetch stays as the host set it. */
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
      // Restored by code that had replaced it.
      own = value === chosen ? native : value
    },
  })
}

/** Installs once per process, before code of a module is loaded: code that stores `fetch` while it loads is then guarded, too. */
export const guardGlobalFetch = (): void => {
  if (!isInstalled) install()
}

/** Runs `work`, and everything that it starts, with this fetch in place of the global one. */
export const withFetch = <T>(fetch: Fetch, work: () => T): T => {
  guardGlobalFetch()
  return current.run(fetch, work)
}
