/** Returns the state of an order. It only reads, so it needs no approval. */
import { fn } from 'trihand'

const ORDERS: Readonly<Record<string, string>> = { '4711': 'It is on its way and comes on Friday.' }

export default fn<{ readonly order: string }>('look-up', {}, ({ input }) => {
  const found = ORDERS[input.order]
  return { content: found ?? `There is no order ${input.order}.`, format: 'text' }
})
