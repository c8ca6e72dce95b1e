/**
 * Handlers whose runs can be ended by an event: the waits for these events, and how the run stops when one arrives.
 *
 * Owns which steps may still begin and which may finish. The wait itself is a step like any other: durable, matched against the run's past
 * too, and gone when the run ends. What a cancel does to children and tasks is the engine's.
 *
 * cancel-on-1  Once the event has come, no step begins any more.
 * cancel-on-2  Between steps: the run is cancelled when no step is active; abort: at once.
 */
import { CANCEL_STEP, type CancelRule } from '#model/event/cancel-on.ts'
import { stepAddress } from '#model/run/step.ts'
import type { Entry, StepPort } from '#ports/step-port.ts'

const never = <T>(): Promise<T> => new Promise(() => {})

class Heed {
  private readonly entry: Entry
  private atWork = 0
  private stopped: { readonly reason: string; isTold: boolean } | null = null

  constructor(entry: Entry) {
    this.entry = entry
  }

  watch({ event, match, condition, timeoutMs, mode }: CancelRule, n: number): void {
    const wanted = { mode: 'any', types: [event], match, condition, timeoutMs, most: null } as const
    // consumed-1: an event that another wait has received ends the run all the same.
    const request = { ...wanted, lookback: { kind: 'run' }, isShared: true } as const
    void this.entry.gate.waitForEvent(stepAddress(CANCEL_STEP, String(n)), request).then(({ status, events }) => {
      if (status !== 'received' || this.stopped !== null) return
      this.stopped = { reason: `${event} came (${events[0]?.id ?? 'unknown'})`, isTold: false }
      if (mode === 'abort' || this.atWork === 0) this.tell()
    })
  }

  /** cancel-on-1. */
  begins<T>(work: () => Promise<T>): Promise<T> {
    return this.stopped === null ? work() : never()
  }

  /** cancel-on-2. */
  works<T>(work: () => Promise<T>): Promise<T> {
    return this.begins(async () => {
      this.atWork += 1
      try {
        return await work()
      } finally {
        this.atWork -= 1
        if (this.stopped !== null && this.atWork === 0) this.tell()
      }
    })
  }

  private tell(): void {
    if (this.stopped === null || this.stopped.isTold) return
    this.stopped.isTold = true
    this.entry.cancel(this.stopped.reason)
  }
}

const heeded = (gate: StepPort, heed: Heed): StepPort => ({
  stateOf: (step) => gate.stateOf(step),
  valueOf: (step) => gate.valueOf(step),
  run: (request) => heed.works(() => gate.run(request)),
  perform: (request) => heed.works(() => gate.perform(request)),
  sleepUntil: (step, instant) => heed.begins(() => gate.sleepUntil(step, instant)),
  waitForEvent: (step, request) => heed.begins(() => gate.waitForEvent(step, request)),
  invoke: (step, handler, input, options) => heed.begins(() => gate.invoke(step, handler, input, options)),
  emit: (step, events) => heed.begins(() => gate.emit(step, events)),
  ask: (step, request) => heed.begins(() => gate.ask(step, request)),
  report: (step, telling) => heed.begins(() => gate.report(step, telling)),
})

/** The entry as its executor receives it. */
export const heedCancels = (entry: Entry, rules: readonly CancelRule[]): Entry => {
  if (rules.length === 0) return entry
  const heed = new Heed(entry)
  for (const [n, rule] of rules.entries()) heed.watch(rule, n)
  return entry.behind(heeded(entry.gate, heed))
}
