/**
 * Keyed requests on a server that dies at a chosen moment: after the work is done and before its answer is stored.
 *
 * Each life is a new `Requests` on the same ledger, like in a restarted process.
 */
import { Requests, type RequestsDeps } from '#engine/services/idempotency-keys.ts'
import type { Service } from '#http/server/service.ts'

export class MortalRequests {
  readonly #deps: RequestsDeps
  #life: Requests
  /** The next answer is lost with the process. */
  isDying = false

  constructor(requests: Requests, over: Partial<RequestsDeps> = {}) {
    this.#deps = { ...(Reflect.get(requests, 'deps') as RequestsDeps), ...over }
    this.#life = new Requests(this.#deps)
  }

  begin: Requests['begin'] = (keyed) => this.#life.begin(keyed)
  release: Requests['release'] = (work, isDoubtful) => this.#life.release(work, isDoubtful)
  forgetOlderThan: Requests['forgetOlderThan'] = (ms) => this.#life.forgetOlderThan(ms)

  answer: Requests['answer'] = async (work, answer) => {
    if (!this.isDying) return this.#life.answer(work, answer)
    this.isDying = false
    this.#life = new Requests(this.#deps)
  }
}

/** For `openApp`: the application with these requests in place of its own. */
export const withRequests =
  (use: (requests: MortalRequests) => void, over: Partial<RequestsDeps> = {}) =>
  (service: Service): Service => {
    const mortal = new MortalRequests(service.requests, over)
    use(mortal)
    return Object.create(service, { requests: { value: mortal } }) as Service
  }
