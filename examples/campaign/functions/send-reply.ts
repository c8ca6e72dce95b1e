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
    // If a mail is not accepted by then, or the process dies meanwhile, its outcome is uncertain and people are asked.
    timeout: '10s',
  })
  emit('email.sent', { lead_id, email_id: 'reply' })
  emit('lead.closed', { lead_id, outcome: 'meeting' })
  return { sent: 1 }
})
