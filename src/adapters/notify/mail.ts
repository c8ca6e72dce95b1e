/**
 * Notices of tasks as e-mail to their assignees.
 *
 * Owns the recipients. The text is in task-text.ts; the mailer is the optional peer `nodemailer`.
 */
import { loadPeer } from '#adapters/peer.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { Json } from '#model/kernel/json.ts'
import type { NoticeDelivery, Notifier } from '#ports/notifier.ts'
import { membersOf, textOf, titleOf } from './task-text.ts'

export interface MailSettings {
  /** `smtp://user:password@host:port`, or `smtps:`. */
  readonly smtpUrl: string
  readonly from: string
  /** Public URL of this system; null: the mail has no link. */
  readonly publicUrl: string | null
  /** E-mail addresses by the name that tasks are assigned to: `ana`, `group:editors`. */
  readonly addresses: Readonly<Record<string, string>>
}

/** One plain address: no space, quote or list. */
const ADDRESS = /^[^\s<>,;:"'@]+@[^\s<>,;:"'@]+$/

const textsOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

/** A user whose name is an address needs no entry; a group without an entry gets no mail. */
const addressesOf = (event: StoredEvent, { addresses }: MailSettings): readonly string[] => {
  const { users, groups } = membersOf(membersOf(event.data)['assignees'])
  const known = (name: string): string | null => (Object.hasOwn(addresses, name) ? (addresses[name] ?? null) : null)
  const found = [
    ...textsOf(users).map((user) => known(user) ?? user),
    ...textsOf(groups).map((group) => known(`group:${group}`) ?? ''),
  ]
  return [...new Set(found.filter((address) => ADDRESS.test(address)))]
}

export const mailNotifier = (settings: MailSettings): Notifier => ({
  deliverNotice: async (event): Promise<NoticeDelivery> => {
    const to = addressesOf(event, settings)
    if (to.length === 0) return { kind: 'unwanted', detail: 'none of the assignees has a mail address' }
    try {
      const { createTransport } = await loadPeer('nodemailer', () => import('nodemailer'))
      const { messageId } = await createTransport(settings.smtpUrl).sendMail({
        from: settings.from,
        to: [...to],
        subject: titleOf(event),
        text: textOf(event, settings.publicUrl),
        // notifier-2: with the same id a mailbox shows a duplicate once.
        messageId: `<${event.id.replaceAll(/[^A-Za-z0-9._-]/g, '-')}@trihand>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
      return { kind: 'delivered', detail: messageId }
    } catch (error) {
      return { kind: 'failed', detail: error instanceof Error ? error.message : String(error) }
    }
  },
})
