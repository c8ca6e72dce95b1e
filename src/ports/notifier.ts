/**
 * Delivers one notice to the outside: by webhook or by mail.
 *
 * notifier-1  Never throws, never tries twice; what became of a notice is an answer.
 * notifier-2  Tries of one notice carry one id: who gets it twice can tell.
 */
import type { StoredEvent } from '#model/event/event.ts'

export type NoticeDelivery =
  | { readonly kind: 'delivered'; readonly detail: string }
  /** Worth another try. */
  | { readonly kind: 'failed'; readonly detail: string }
  /** Nobody wants it: no try will help. */
  | { readonly kind: 'unwanted'; readonly detail: string }

export interface Notifier {
  deliverNotice(event: StoredEvent, signal: AbortSignal): Promise<NoticeDelivery>
}
