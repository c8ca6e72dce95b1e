/**
 * Delivers one notice to the outside: by webhook or by mail.
 *
 * notifier-1  Never throws, never retries; the outcome of a notice is an answer.
 * notifier-2  All tries of one notice carry the same id, so that a receiver that gets it twice can tell.
 */
import type { StoredEvent } from '#model/event/event.ts'

export type NoticeDelivery =
  | { readonly kind: 'delivered'; readonly detail: string }
  /** Worth a retry. */
  | { readonly kind: 'failed'; readonly detail: string }
  /** The receiver does not want it: no retry will help. */
  | { readonly kind: 'unwanted'; readonly detail: string }

export interface Notifier {
  deliverNotice(event: StoredEvent, signal: AbortSignal): Promise<NoticeDelivery>
}
