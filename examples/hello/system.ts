/**
 * Hello: the smallest system that uses a bit of everything. `trihand init --template hello` starts with it.
 *
 * Someone asks for a greeting. The greeting is written, waits two seconds, is delivered by a printer that jams the first time, and another
 * function counts its letters. Then the run waits a day for an answer: no process, no memory, one row in the ledger.
 */
import { defineSystem, fn } from 'trihand'

interface Greeting {
  readonly name: string
}

const countLetters = fn<{ readonly text: string }>('count-letters', {}, async ({ input, step }) =>
  step.run('count', () => input.text.replaceAll(/[^a-z]/gi, '').length),
)

const greet = fn<Greeting>('greet', { trigger: 'greeting.requested' }, async ({ input, step }) => {
  const text = await step.run('write', () => `Hello, ${input.name}!`)
  await step.sleep('let-it-dry', '2s')
  await step.run(
    'print',
    ({ attempt }) => {
      if (attempt === 1) throw new Error('the printer is jammed')
      return { printed: text }
    },
    { retry: { maxAttempts: 5, baseMs: 1_000 } },
  )
  const letters = await step.invoke('count', 'count-letters', { text })
  const answer = await step.waitForEvent('answer', { event: 'greeting.answered', match: 'payload.name', timeout: '1d' })
  const words = answer.status === 'received' ? answer.event.data : 'no answer'
  await step.emit('tell', { type: 'greeting.ended', data: { name: input.name, letters, answer: words } })
  return { text, letters, answer: words }
})

const file = fn<Greeting>(
  'file-answer',
  { trigger: { event: 'greeting.ended', filter: 'payload.answer != "no answer"' } },
  async ({ input, step }) => step.run('file', ({ write }) => write('answers', input.name, { filed: true })),
)

export const system = defineSystem({
  name: 'hello',
  events: { 'greeting.requested': null, 'greeting.answered': null, 'greeting.ended': null },
  functions: [greet, countLetters, file],
})
