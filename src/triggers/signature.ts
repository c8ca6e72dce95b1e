/**
 * Authenticates the sender of a webhook by Standard Webhooks, an HMAC of the body, a key, or a bearer token.
 *
 * Compares in constant time and against the clock that it is given. Secrets arrive resolved; none is ever part of an error.
 *
 * signature-1  The signature is checked over bytes: two bodies never share a signature because they decode to the same text.
 * signature-2  Where a scheme signs a timestamp, a delivery from more than five minutes ago or ahead is refused.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { HmacScheme, WebhookDefinition } from '#manifest/define/webhooks.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant } from '#model/kernel/ids.ts'

/** A request as it arrived. Header names are in lower case. */
export interface Delivery {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const TOLERANCE_MS = 5 * 60_000

const invalid = (detail: string): TrihandError => new TrihandError('SIGNATURE_INVALID', detail)

const hashed = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Compares hashes of equal length: neither the length nor the first difference shows in the time that it takes. */
const isSame = (given: string, expected: string): boolean => timingSafeEqual(hashed(given), hashed(expected))

const isOneOf = (given: readonly string[], expected: readonly string[]): boolean =>
  expected.flatMap((secret) => given.map((text) => isSame(text, secret))).some(Boolean)

/** signature-2. */
const checkTime = (name: string, stamp: string, now: Instant): void => {
  const instant = /^\d{1,12}$/.test(stamp) ? Number(stamp) * 1_000 : Number.NaN
  if (!(Math.abs(now - instant) <= TOLERANCE_MS))
    throw invalid(`${name} is "${stamp.slice(0, 20)}"; expected a time within five minutes of now, in seconds`)
}

/** signature-1. */
const hmacOf = (secret: string | Uint8Array, before: string, body: Uint8Array): Buffer =>
  createHmac('sha256', secret).update(before).update(body).digest()

/** Returns the digest of a body, byte for byte. */
export const digestOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex')

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Returns the key that a secret of Standard Webhooks encodes. Throws if the text is not a valid secret. */
export const standardKey = (secret: string): Uint8Array => {
  const text = secret.replace(/^whsec_/, '')
  const key = Buffer.from(text, 'base64')
  if (!BASE64.test(text) || key.length === 0)
    throw new TrihandError('CONFIG_INVALID', 'a Standard Webhooks secret must be base64, with or without whsec_')
  return key
}

/** Throws SIGNATURE_INVALID unless one of these secrets signed the message within the last minutes. */
export const checkStandard = (
  { headers, body }: Pick<Delivery, 'headers' | 'body'>,
  secrets: readonly string[],
  now: Instant,
): void => {
  const [id = '', stamp = '', signatures = ''] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name) => headers[name],
  )
  if (id === '' || signatures === '')
    throw invalid('the headers webhook-id, webhook-timestamp and webhook-signature are required')
  checkTime('webhook-timestamp', stamp, now)
  const signed = secrets.map(
    (secret) => `v1,${hmacOf(standardKey(secret), `${id}.${stamp}.`, body).toString('base64')}`,
  )
  if (!isOneOf(signatures.split(' '), signed)) throw invalid('no signature matches the body')
}

/** The content of a signature header: its signatures, the timestamp that is signed with the body, and the text signed before the body. */
interface Signed {
  readonly signatures: readonly string[]
  readonly stamp: { readonly name: string; readonly text: string } | null
  readonly before: string
}

const SLACK_STAMP = 'x-slack-request-timestamp'

const SCHEMES: Readonly<Record<HmacScheme, (header: string, headers: Delivery['headers']) => Signed>> = {
  body: (header) => ({ signatures: [header.replace(/^sha256=/, '')], stamp: null, before: '' }),
  stripe: (header) => {
    const parts = header.split(',').map((part) => part.trim().split('='))
    const of = (wanted: string): readonly string[] =>
      parts.flatMap(([name, text = '']) => (name === wanted ? text : []))
    const [text = ''] = of('t')
    return { signatures: of('v1'), stamp: { name: 't', text }, before: `${text}.` }
  },
  slack: (header, headers) => {
    const text = headers[SLACK_STAMP] ?? ''
    return { signatures: [header.replace(/^v0=/, '')], stamp: { name: SLACK_STAMP, text }, before: `v0:${text}:` }
  },
}

const checkHmac = (
  { headers, body }: Delivery,
  { header, scheme }: WebhookDefinition,
  secrets: readonly string[],
  now: Instant,
): void => {
  const given = headers[header] ?? ''
  if (given === '') throw invalid(`the header ${header} is required`)
  const { signatures, stamp, before } = SCHEMES[scheme](given, headers)
  if (stamp !== null) checkTime(stamp.name, stamp.text, now)
  const signed = secrets.flatMap((secret) => {
    const digest = hmacOf(secret, before, body)
    return [digest.toString('hex'), digest.toString('base64')]
  })
  if (!isOneOf(signatures, signed)) throw invalid(`${header} does not match the body`)
}

const checkToken = ({ headers }: Delivery, { auth, header }: WebhookDefinition, secrets: readonly string[]): void => {
  const text = headers[header] ?? ''
  const given = auth === 'bearer' ? (/^bearer +(.+)$/i.exec(text)?.[1] ?? '') : text
  if (given === '' || !isOneOf([given], secrets)) throw invalid(`${header} does not have the secret`)
}

/** Throws SIGNATURE_INVALID unless the delivery comes from the configured sender. */
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
      return checkHmac(delivery, webhook, secrets, now)
    case 'api_key':
    case 'bearer':
      return checkToken(delivery, webhook, secrets)
    case 'none':
      return
  }
}
