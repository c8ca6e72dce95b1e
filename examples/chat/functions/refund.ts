/** Pays an order back: once, whatever crashes. The key goes to the bank, which knows a second payment by it. */
import { fn } from 'trihand'

export default fn<{ readonly order: string }>('refund', {}, async ({ input, step }) => {
  await step.run('pay back', ({ effectKey }) => ({ order: input.order, payment: effectKey }), { effect: 'once' })
  return { content: `Order ${input.order} is paid back.`, format: 'text' }
})
