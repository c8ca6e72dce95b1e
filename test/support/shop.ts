/**
 * A small system as a user's file, for tests of the command: steps that leave a trace, a wait, a child, a failure, an uncertain outcome.
 */
export const SHOP = `import { appendFileSync, existsSync } from 'node:fs'
import { defineSystem, fn } from 'trihand'

const isText = (value: unknown): value is { readonly id: string } =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'

const order = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value: unknown) => (isText(value) ? { value } : { issues: [{ message: 'expected a text', path: ['id'] }] }),
  },
} as const

const trace = (line: string): void => appendFileSync('trace.txt', line + '\\n')

export const system = defineSystem({
  name: 'shop',
  events: { 'order.placed': order, 'order.paid': null, 'order.lost': null, 'order.slow': null, 'order.doubtful': null },
  functions: [
    fn('pack', { trigger: 'order.placed' }, async ({ input, step }) => {
      await step.run('box', () => trace('box'))
      await step.sleep('glue', existsSync('slow-glue.txt') ? 1_500 : 200)
      const weight = await step.invoke('weight', 'weigh', input)
      return { weight }
    }),
    fn('weigh', {}, ({ step }) => step.run('scale', () => 7)),
    fn('ship', { trigger: 'order.paid' }, async ({ step }) => {
      const sign = await step.waitForEvent('sign', { event: 'order.signed', match: 'payload.id', timeout: '1d' })
      return { signed: sign.status }
    }),
    fn('search', { trigger: 'order.lost', retry: { maxAttempts: 1 } }, () => {
      if (!existsSync('found.txt')) throw new Error('it is not in the \\u001b[31mcellar')
      return 'found'
    }),
    fn('carry', { trigger: 'order.slow' }, async ({ step }) => {
      await step.run('lift', async () => {
        trace('lift')
        await new Promise((resolve) => setTimeout(resolve, existsSync('heavy.txt') ? 60_000 : 500))
        trace('down')
      })
    }),
    fn<{ readonly id: string }>('settle', { overlap: 'buffer_all', retry: { maxAttempts: 1 } }, async ({ input, step }) => {
      await step.run('book', () => trace('book'))
      if (input.id === 'slow') await step.sleep('long', '1h')
      throw new Error('the books do not balance')
    }),
    fn('charge', { trigger: 'order.doubtful' }, ({ step }) =>
      step.run('card', () => Promise.reject(new Error('the line went dead')), { effect: 'once' }),
    ),
  ],
})
`
