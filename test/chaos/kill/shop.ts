/**
 * The system that is killed: orders with every kind of step, so that a kill meets each of them half done.
 *
 * Owns the functions. Effects happen in an outside world (world.ts), which counts them; nothing here has a memory.
 */
import { type FunctionContext, fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import type { Effect } from '#model/run/step.ts'
import type { StepContext } from '#ports/step-port.ts'
import type { PerformedEffect } from './world.ts'

export interface Order {
  readonly order: string
}

const RETRY = { maxAttempts: 8, baseMs: 10, factor: 2, maxMs: 100 }
const EFFECT_TIMEOUT = '2s'

export const shop = (world: string): SystemSource => {
  /** One effect outside: the world records it, then answers. */
  const affect = async (
    run: string,
    step: string,
    effect: Effect,
    { effectKey, signal }: StepContext,
  ): Promise<string> => {
    const body: PerformedEffect = { key: effectKey, run, step, effect }
    const response = await fetch(`${world}/perform`, { method: 'POST', body: JSON.stringify(body), signal })
    if (!response.ok) throw new Error(`the world answered ${response.status}`)
    return response.text()
  }

  const order = async ({ input, run, step }: FunctionContext<Order>): Promise<Order> => {
    const outside = (name: string, effect: Effect): Promise<string> =>
      step.run(name, (context) => affect(run.id, name, effect, context), {
        effect,
        retry: RETRY,
        timeout: EFFECT_TIMEOUT,
      })
    await outside('reserve', 'idempotent')
    await step.sleep('think', 15)
    await outside('charge', 'once')
    const write = (context: StepContext): void => context.write('order', input.order, { charged: true })
    await Promise.all([step.run('book', write, { effect: 'transactional' }), step.invoke('pack', 'pack', input)])
    const paid = await step.waitForEvent('paid', { event: 'shop/paid', match: 'payload.order' })
    await step.emit('tell', { type: 'shop/shipped', data: { order: input.order, paid: paid.status } })
    return { order: input.order }
  }

  return {
    name: 'shop',
    events: { 'shop/paid': null, 'shop/shipped': null },
    functions: [
      fn<Order>('order', { trigger: 'shop/ordered', retry: RETRY }, order),
      fn<Order>('pack', { retry: RETRY }, async ({ step, run }) => {
        await step.run('box', () => 'boxed')
        return step.run('seal', (context) => affect(run.id, 'seal', 'idempotent', context), {
          retry: RETRY,
          timeout: EFFECT_TIMEOUT,
        })
      }),
      fn<Order>('ship', { trigger: 'shop/shipped', retry: RETRY }, ({ step, run }) =>
        step.run('label', (context) => affect(run.id, 'label', 'idempotent', context), {
          retry: RETRY,
          timeout: EFFECT_TIMEOUT,
        }),
      ),
    ],
  }
}
