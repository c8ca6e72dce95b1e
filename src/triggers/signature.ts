/**
 * Who sent this? The proofs that a webhook can ask for: Standard Webhooks, an HMAC of the body, a key, a bearer token.
 *
 * Owns their check, in constant time and by the clock it is given. Secrets arrive resolved; none is ever part of an error.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import type { WebhookDefinition } from '../manifest/webhooks.ts'
import { TrihandError } from '../model/errors.ts'
import type { Instant } from '../model/ids.ts'

/** A request as it came. Names of headers are in lower case. */
export interface Delivery {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const TOLERANCE_MS = 5 * 60_000

const invalid = (detail: string): TrihandError => new TrihandError('SIGNATURE_INVALID', detail)

const hashed = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Of one length, whatever was sent: neither the length nor the first difference shows in the time it takes. */
const isSame = (given: string, expected: string): boolean => timingSafeEqual(hashed(given), hashed(expected))

const isOneOf = (given: readonly string[], expected: readonly string[]): boolean =>
  expected.flatMap((secret) => given.map((text) => isSame(text, secret))).some(Boolean)

const checkTime = (stamp: string, now: Instant): Instant => {
  const instant = /^\d{1,12}$/.test(stamp) ? Number(stamp) * 1_000 : Number.NaN
  if (!(Math.abs(now - instant) <= TOLERANCE_MS))
    throw invalid(
      `webhook-timestamp is "${stamp.slice(0, 20)}"; expected a time within five minutes of now, in seconds`,
    )
  return instant
}

/** Throws for a secret that is none. */
export const standardSigner = (secret: string): Webhook => {
  try {
    return new Webhook(secret)
  } catch (cause) {
    throw new TrihandError('CONFIG_INVALID', 'a secret of Standard Webhooks is base64, with or without whsec_', {
      cause,
    })
  }
}

/** Throws SIGNATURE_INVALID for a message that none of these secrets signed within the last minutes. */
export const checkStandard = (
  { headers, body }: Pick<Delivery, 'headers' | 'body'>,
  secrets: readonly string[],
  now: Instant,
): void => {
  const [id = '', stamp = '', signatures = ''] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name) => headers[name],
  )
  if (id === '' || signatures === '') throw invalid('webhook-id, webhook-timestamp and webhook-signature are needed')
  const instant = checkTime(stamp, now)
  const text = Buffer.from(body).toString('utf8')
  // biome-ignore lint/style/noRestrictedGlobals: carries the instant that was sent, and asks no clock
  const signed = secrets.map((secret) => standardSigner(secret).sign(id, new Date(instant), text))
  if (!isOneOf(signatures.split(' '), signed)) throw invalid('no signature fits the body')
}

const checkHmac = ({ headers, body }: Delivery, { header }: WebhookDefinition, secrets: readonly string[]): void => {
  const given = (headers[header] ?? '').replace(/^sha256=/, '')
  if (given === '') throw invalid(`the header ${header} is needed`)
  const signed = secrets.flatMap((secret) => {
    const digest = createHmac('sha256', secret).update(body).digest()
    return [digest.toString('hex'), digest.toString('base64')]
  })
  if (!isOneOf([given], signed)) throw invalid(`${header} does not fit the body`)
}

const checkToken = ({ headers }: Delivery, { auth, header }: WebhookDefinition, secrets: readonly string[]): void => {
  const text = headers[header] ?? ''
  const given = auth === 'bearer' ? (/^bearer +(.+)$/i.exec(text)?.[1] ?? '') : text
  if (given === '' || !isOneOf([given], secrets)) throw invalid(`${header} does not hold the secret`)
}

/** Throws SIGNATURE_INVALID for anyone but the sender that was agreed on. */
export const checkSender = (
  delivery: Delivery,
  webhook: WebhookDefinition,
  secrets: readonly string[],
  now: Instant,
): void => {
  switch (webhook.auth) {
    case 'standard':
      return checkStandard(delivery, secrets, now)
    case 'hmac':
      return checkHmac(delivery, webhook, secrets)
    case 'api_key':
    case 'bearer':
      return checkToken(delivery, webhook, secrets)
    case 'none':
      return
  }
}
