/**
 * Outgoing notifications as ordinary functions: an event starts a run, each try is a step, each pause a sleep. So a crash or a dead
 * receiver loses nothing.
 *
 * Owns the loop of tries, and who is asked when an endpoint is switched off. What is sent, and how, is the notifier's; when to try again is
 * model/flow/policies/delivery.ts; when to stop trying is model/flow/policies/endpoint-health.ts.
 */
import type { StoredEvent } from '#model/event/event.ts'
import { pauseAfter } from '#model/flow/policies/delivery.ts'
import { ENDPOINT_TABLE, healthAfter, healthOf } from '#model/flow/policies/endpoint-health.ts'
import type { Instant, TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { FinalError } from '#model/run/step-failure.ts'
import type { FunctionSource } from '#model/workflow/function-source.ts'
import type { NoticeDelivery, Notifier } from '#ports/notifier.ts'
import type { StepContext } from '#ports/step-port.ts'
import { fn, type Handler } from './function.ts'
import type { Step } from './step-api.ts'

export interface NoticeRoute {
  /** The name of the function, in lists of runs. */
  readonly name: string
  readonly events: readonly string[]
  readonly notifier: Notifier
  /** Absent: the endpoint is never switched off. */
  readonly health?: HealthBook
}

/** Where the health of an endpoint is stored. */
export interface HealthBook {
  /** With another address, the health starts anew. */
  readonly address: string
  /** Reads the current document. */
  read(tenant: TenantId, table: string, key: string): Promise<Json | null>
  now(): Instant
}

/** `off`: the endpoint was off before this try, or was switched off by it: nothing more is sent. */
type Tried = { readonly kind: NoticeDelivery['kind'] | 'off'; readonly detail: string; readonly roll: number }

const TRY_TIMEOUT = '30s'
const OPERATORS = 'group:operators'

/** One try, and its effect on the endpoint's health, which is written with the result of the step. */
const deliverNotice = async (
  route: NoticeRoute,
  event: StoredEvent,
  context: StepContext,
): Promise<Omit<Tried, 'roll'>> => {
  const { name, notifier, health: book } = route
  if (book === undefined) return notifier.deliverNotice(event, context.signal)
  const health = async () => healthOf(await book.read(event.tenant, ENDPOINT_TABLE, name), book.address)
  const { off } = await health()
  if (off !== null) return { kind: 'off', detail: '' }
  const carried = await notifier.deliverNotice(event, context.signal)
  // Read again, because others try the same endpoint.
  const before = await health()
  const after = healthAfter(before, carried, book.now())
  if (after !== before) context.write(ENDPOINT_TABLE, name, { ...after })
  return after.off === null ? carried : { kind: 'off', detail: after.off }
}

/** The run that switched an endpoint off asks what to do with it. Returns true if it is on again. */
const askOperators = async (step: Step, { name, events }: NoticeRoute, reason: string, key: string) => {
  const { decision } = await step.human(
    'switched-off',
    {
      taskType: 'decision',
      title: `${name} is switched off`,
      instructions: `Nothing more is sent to this endpoint: ${reason}. Look at who receives ${events.join(', ')}, then switch it on again, or leave it off.`,
      assign: OPERATORS,
      actions: [
        { name: 'switch_on', label: 'Switch on' },
        { name: 'leave_off', label: 'Leave off' },
      ],
    },
    { key },
  )
  if (decision !== 'switch_on') return false
  await step.run('switch-on', ({ write }) => write(ENDPOINT_TABLE, name, null), { key })
  return true
}

/** Tries again and again until the notification is delivered or is no longer wanted. */
const deliver =
  (route: NoticeRoute, roll: () => number) =>
  async (event: StoredEvent, step: Step): Promise<Omit<Tried, 'roll'> & { readonly tries: number }> => {
    const attempt = (n: number, isLast: boolean): Promise<Tried> => {
      const once = async (context: StepContext): Promise<Tried> => {
        const carried = await deliverNotice(route, event, context)
        // A failed step, so that a person's retry of the run gives it another attempt.
        if (isLast && carried.kind === 'failed') throw new FinalError(carried.detail)
        return { ...carried, roll: roll() }
      }
      return (
        step
          .run('try', once, { key: `${n}`, timeout: TRY_TIMEOUT, retry: { maxAttempts: 1 } })
          // A try that timed out has failed; its pause uses the middle of the rung.
          .catch((error: Error): Tried => ({ kind: 'failed', detail: error.message, roll: 0.5 }))
      )
    }
    for (let n = 1, rung = 1; ; n++, rung++) {
      const { roll: chance, ...tried } = await attempt(n, pauseAfter(rung, 0) === null)
      if (tried.kind === 'delivered' || tried.kind === 'unwanted') return { ...tried, tries: n }
      if (tried.kind === 'off') {
        // Without a reason: another run switched it off, and has asked.
        if (tried.detail === '' || !(await askOperators(step, route, tried.detail, `${n}`)))
          return { ...tried, tries: n }
        rung = 0
        continue
      }
      const pause = pauseAfter(rung, chance)
      if (pause === null) throw new FinalError(`not delivered in ${n} tries; the last: ${tried.detail}`)
      await step.sleep('pause', pause, { key: `${n}` })
    }
  }

const handler = (route: NoticeRoute, roll: () => number): Handler => {
  const carryOut = deliver(route, roll)
  return ({ event, step }) => {
    if (event === null) throw new FinalError('a notice reports an event; it cannot be called')
    return carryOut(event, step)
  }
}

/** Notifies the caller that asked for a run of its end: the address and the event are in each input. */
export const callbackNotices = (
  name: string,
  notifierTo: (url: string) => Promise<Notifier>,
  roll: () => number,
): FunctionSource =>
  fn(name, {}, ({ input, step }) => {
    const { url, event } = input as unknown as { readonly url: string; readonly event: StoredEvent }
    const notifier: Notifier = { deliverNotice: async (...asked) => (await notifierTo(url)).deliverNotice(...asked) }
    return deliver({ name, events: [], notifier }, roll)(event, step)
  })

/** Leaves out events about notifications themselves: two routes would notify each other forever. */
const OF_OTHERS = '!event.source.startsWith("workflow:notify-")'

const triggerOn = (event: string) => (event.startsWith('workflow.') ? { event, filter: OF_OTHERS } : event)

/** One function for each route, added to the functions of the system. Their names begin with `notify-`. */
export const noticeFunctions = (routes: readonly NoticeRoute[], roll: () => number): readonly FunctionSource[] =>
  routes.map((route) => fn(route.name, { triggers: route.events.map(triggerOn) }, handler(route, roll)))
