/** Refunds an order exactly once, even after a crash: the bank recognises a repeated payment by its key. */
import { fn } from 'trihand'

export default fn<{ readonly order: string }>('refund', {}, async ({ input, step }) => {
  await step.run('pay back', ({ effectKey }) => ({ order: input.order, payment: effectKey }), { effect: 'once' })
  return { content: `Order ${input.order} is paid back.`, format: 'text' }
})
