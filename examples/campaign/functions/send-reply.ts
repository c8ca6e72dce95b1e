/** Sends the reply that a person approved, and closes the lead. */
import { fn } from 'trihand'
import { deliver } from '../mail-sink.ts'

interface Approved {
  readonly items: readonly {
    readonly content: { readonly lead_id: string; readonly subject: string; readonly body: string }
  }[]
}

export default fn<Approved>('send-reply', {}, async ({ input, step, emit }) => {
  const [item] = input.items
  if (item === undefined) throw new Error('the approved reply has no content')
  const { lead_id, ...mail } = item.content
  await step.run('send', ({ effectKey }) => deliver({ to: lead_id, ...mail }, effectKey), {
    effect: 'once',
    // A mail that is not taken by then is in doubt, and people are asked; also when the process dies in the middle.
    timeout: '10s',
  })
  emit('email.sent', { lead_id, email_id: 'reply' })
  emit('lead.closed', { lead_id, outcome: 'meeting' })
  return { sent: 1 }
})
