/**
 * News for the outside as ordinary functions: an event starts a run, each try is a step, each pause a sleep. What a crash or a dead
 * receiver costs is what it costs any run: nothing.
 *
 * Owns the loop of tries. What is sent, and how, is the courier's; when to try again is the ladder's (model/policies/delivery.ts).
 */
import { pauseAfter } from '../../model/policies/delivery.ts'
import type { Carried, Courier } from '../../ports/courier.ts'
import { type FunctionSource, fn, type Handler } from './function.ts'
import { FinalError } from './step-failure.ts'

export interface NoticeRoute {
  /** Of the function, in lists of runs. */
  readonly name: string
  readonly events: readonly string[]
  readonly courier: Courier
}

type Tried = Carried & { readonly roll: number }

const TRY_TIMEOUT = '30s'

const handler =
  (courier: Courier, roll: () => number): Handler =>
  async ({ event, step }) => {
    if (event === null) throw new FinalError('a notice tells of an event; it cannot be called')
    const attempt = (n: number): Promise<Tried> =>
      step
        .run('try', async ({ signal }): Promise<Tried> => ({ ...(await courier.carry(event, signal)), roll: roll() }), {
          key: `${n}`,
          timeout: TRY_TIMEOUT,
          retry: { maxAttempts: 1 },
        })
        // A try that was cut off is one that failed; the middle of the rung will do for its pause.
        .catch((error: Error): Tried => ({ kind: 'failed', detail: error.message, roll: 0.5 }))
    for (let n = 1; ; n++) {
      const { roll: chance, ...carried } = await attempt(n)
      if (carried.kind !== 'failed') return { ...carried, tries: n }
      const pause = pauseAfter(n, chance)
      if (pause === null) throw new FinalError(`not delivered in ${n} tries; the last: ${carried.detail}`)
      await step.sleep('pause', pause, { key: `${n}` })
    }
  }

/** One function for each route; they come beside the functions of the system. */
export const noticeFunctions = (routes: readonly NoticeRoute[], roll: () => number): readonly FunctionSource[] =>
  routes.map(({ name, events, courier }) => fn(name, { triggers: events }, handler(courier, roll)))
