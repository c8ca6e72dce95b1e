/** Sends the approved mails one after the other with a pause between them. Each is sent at most once. */
import { fn } from 'trihand'
import { deliver } from '../mail-sink.ts'

interface Item {
  readonly id: string
  readonly status: string
  readonly content: { readonly subject: string; readonly body: string }
}

interface Approved {
  readonly lead_id: string
  readonly email: string
  readonly items: readonly Item[]
}

const PAUSE = process.env['CAMPAIGN_PAUSE'] ?? '2s'
/** If a mail is not accepted by then, or the process dies meanwhile, its outcome is uncertain and people are asked. */
const SEND_TIMEOUT = '10s'

export default fn<Approved>('send-campaign', {}, async ({ input, step, emit }) => {
  const going = input.items.filter(({ status }) => status !== 'rejected')
  for (const { id, content } of going) {
    await step.run('send', ({ effectKey }) => deliver({ to: input.email, ...content }, effectKey), {
      key: id,
      effect: 'once',
      timeout: SEND_TIMEOUT,
    })
    emit('email.sent', { lead_id: input.lead_id, email_id: id })
    await step.sleep('pause', PAUSE, { key: id })
  }
  return { sent: going.length }
})
