/**
 * A Unix signal to this process as a trigger.
 *
 * Owns the listening. A signal has no identity and is stored nowhere: a signal that arrives while the store is unreachable is sent as soon as it
 * is back; one that arrives while the process is down is lost.
 */
import { type SignalSource as Definition, WATCH_EVENTS } from '#manifest/define/sources.ts'
import { retryUntilStored, type Source, type SourceDeps, sendOccurrence } from './source.ts'

export class SignalSource implements Source {
  readonly name: string
  readonly #definition: Definition
  readonly #deps: SourceDeps
  #isOn = false

  constructor(definition: Definition, deps: SourceDeps) {
    this.name = definition.name
    this.#definition = definition
    this.#deps = deps
  }

  async start(): Promise<void> {
    if (this.#isOn) return
    this.#isOn = true
    process.on(this.#definition.signal, this.#hear)
  }

  async stop(): Promise<void> {
    this.#isOn = false
    process.off(this.#definition.signal, this.#hear)
  }

  readonly #hear = (): void => {
    const { ids, clock } = this.#deps
    const { signal } = this.#definition
    const occurrence = {
      type: WATCH_EVENTS.signal,
      id: ids.uuid(),
      subject: signal,
      time: clock.now(),
      data: { signal, pid: process.pid },
    }
    const work = async (): Promise<void> => void (await sendOccurrence(this.#deps, this.name, occurrence, []))
    void retryUntilStored(this.#deps, this.name, () => !this.#isOn, work)
  }
}
