/**
 * News of tasks as e-mail: who is asked, until when, and a link to the page where it is decided.
 *
 * Owns the words and who gets them. A link opens a page and never decides: scanners of mail open every link. What agents and strangers
 * have written is not in it. The mailer is the optional peer `nodemailer`.
 */
import type { StoredEvent } from '../../model/event.ts'
import type { Json } from '../../model/json.ts'
import type { Carried, Courier } from '../../ports/courier.ts'
import { loadPeer } from '../peer.ts'

export interface MailSettings {
  /** `smtp://user:password@host:port`, or `smtps:`. */
  readonly smtpUrl: string
  readonly from: string
  /** Where this system is for people; null: the mail has no link. */
  readonly publicUrl: string | null
  /** Addresses of people whose name is none. */
  readonly addresses: Readonly<Record<string, string>>
}

/** The events that a person may want a mail for. */
export const MAIL_EVENTS = ['human.assigned', 'human.reminded', 'human.timed_out'] as const

const SUBJECTS: Readonly<Record<string, string>> = {
  'human.assigned': 'A task for you',
  'human.reminded': 'Reminder: a task waits for you',
  'human.timed_out': 'A task is overdue',
}
/** No space, no quote, no list: one plain address. */
const ADDRESS = /^[^\s<>,;:"'@]+@[^\s<>,;:"'@]+$/

type Members = { readonly [key: string]: Json }

const membersOf = (value: Json | undefined): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}

const usersOf = (data: Json): readonly string[] => {
  const { users } = membersOf(membersOf(data)['assignees'])
  return Array.isArray(users) ? users.filter((user): user is string => typeof user === 'string') : []
}

const addressesOf = (event: StoredEvent, { addresses }: MailSettings): readonly string[] => {
  const found = usersOf(event.data).map((user) => (Object.hasOwn(addresses, user) ? (addresses[user] ?? '') : user))
  return [...new Set(found.filter((address) => ADDRESS.test(address)))]
}

const textOf = ({ data, subject }: StoredEvent, { publicUrl }: MailSettings): string => {
  const { handler, deadline } = membersOf(data)
  const lines = [
    `${typeof handler === 'string' ? handler : 'Somebody'} asks for your decision.`,
    ...(typeof deadline === 'number' ? [`Until: ${new Date(deadline).toISOString()}`] : []),
    ...(publicUrl === null || subject === null
      ? ['Open your inbox.']
      : [`Open it: ${new URL(`/inbox/${encodeURIComponent(subject)}`, publicUrl).href}`]),
  ]
  return `${lines.join('\n')}\n`
}

export const mailCourier = (settings: MailSettings): Courier => ({
  carry: async (event): Promise<Carried> => {
    const to = addressesOf(event, settings)
    if (to.length === 0) return { kind: 'unwanted', detail: 'nobody who is asked has an address' }
    try {
      const { createTransport } = await loadPeer('nodemailer', () => import('nodemailer'))
      const { messageId } = await createTransport(settings.smtpUrl).sendMail({
        from: settings.from,
        to: [...to],
        subject: SUBJECTS[event.type] ?? 'News of a task',
        text: textOf(event, settings),
        // courier-2: a mailbox that gets it twice shows it once.
        messageId: `<${event.id.replaceAll(/[^A-Za-z0-9._-]/g, '-')}@trihand>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
      return { kind: 'delivered', detail: messageId }
    } catch (error) {
      return { kind: 'failed', detail: error instanceof Error ? error.message : String(error) }
    }
  },
})
