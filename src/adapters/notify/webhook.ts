/**
 * Notices as signed webhooks: one event as CloudEvents JSON, signed as Standard Webhooks requires.
 *
 * Owns body and signature.
 */
import { Webhook } from 'standardwebhooks'
import type { StoredEvent } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Notifier } from '#ports/notifier.ts'
import { type NoticeFetch, post } from './post.ts'

export interface WebhookSender {
  /** Standard Webhooks: base64, with or without `whsec_`. All of them sign, so that a secret can be rotated. */
  readonly secrets: readonly string[]
  /** Public URL of this system, where receivers fetch large data. Null: the event has no link to it. */
  readonly publicUrl: string | null
  /** Path of an event's data at that URL. Default: the event itself. */
  readonly dataPath?: (event: StoredEvent) => string
}

export interface WebhookEndpoint extends WebhookSender {
  readonly url: string
}

const MAX_BODY_BYTES = 20_000

const pathOf = ({ sequence }: StoredEvent): string => `/api/events/${sequence}`

/** Replaces data that is too large by a link, which requires access to fetch. */
const bodyOf = (event: StoredEvent, { publicUrl, dataPath = pathOf }: WebhookSender): string => {
  const { id, source, type, subject, time, data, correlationId } = event
  const attributes = {
    specversion: '1.0',
    id,
    source,
    type,
    ...(subject === null ? {} : { subject }),
    time: new Date(time).toISOString(),
    correlationid: correlationId,
    datacontenttype: 'application/json',
  }
  const whole = JSON.stringify({ ...attributes, data })
  if (Buffer.byteLength(whole) <= MAX_BODY_BYTES) return whole
  const elsewhere: Json = publicUrl === null ? null : new URL(dataPath(event), publicUrl).href
  return JSON.stringify({ ...attributes, data_url: elsewhere })
}

const signersOf = ({ secrets }: WebhookSender): readonly Webhook[] =>
  secrets.map((secret) => {
    try {
      return new Webhook(secret)
    } catch (cause) {
      throw new TrihandError('CONFIG_INVALID', 'a Standard Webhooks secret must be base64, with or without whsec_', {
        cause,
      })
    }
  })

/** Notifiers for any address with the same secrets. Throws for an invalid secret at start, not at the first notice. */
export const webhookNotifiers = (
  sender: WebhookSender,
  now: () => number,
): ((url: string, fetch: NoticeFetch) => Notifier) => {
  const signers = signersOf(sender)
  return (url, fetch) => ({
    deliverNotice: async (event, signal) => {
      const body = bodyOf(event, sender)
      const stamp = new Date(now())
      const headers = {
        'content-type': 'application/cloudevents+json',
        'webhook-id': event.id,
        'webhook-timestamp': `${Math.floor(stamp.getTime() / 1_000)}`,
        ...(signers.length > 0 && {
          'webhook-signature': signers.map((signer) => signer.sign(event.id, stamp, body)).join(' '),
        }),
      }
      return post(fetch, url, { headers, body, signal })
    },
  })
}

export const webhookNotifier = (endpoint: WebhookEndpoint, fetch: NoticeFetch, now: () => number): Notifier =>
  webhookNotifiers(endpoint, now)(endpoint.url, fetch)
