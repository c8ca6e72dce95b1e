/**
 * Brings incoming webhooks from what an author declares to the normal form: their paths, their authentication, and the event made of a body.
 *
 * Owns every refusal at definition time. Keeps secrets only as they were written, mostly as references; never reads an environment.
 */
import { compileTemplate } from '#manifest/expressions/template.ts'
import { isEventType, isReservedType } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { type Json, toJson } from '#model/kernel/json.ts'

export const WEBHOOK_AUTHS = ['standard', 'hmac', 'api_key', 'bearer', 'none'] as const
export type WebhookAuth = (typeof WEBHOOK_AUTHS)[number]

/** What a sender with an HMAC signs: the body alone, or a timestamp with it, as Stripe and Slack do. */
export const HMAC_SCHEMES = ['body', 'stripe', 'slack'] as const
export type HmacScheme = (typeof HMAC_SCHEMES)[number]

/** A delivery, as a transform receives it. */
export interface Delivered {
  readonly body: Json
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** The body as it came. */
  readonly raw: string
  readonly receivedAt: Instant
}

/**
 * A webhook that an outside sender calls: `{ name: 'stripe', auth: 'hmac', scheme: 'stripe', secret: '${STRIPE_SECRET}', emits: 'payment.received'
 * }`.
 */
export interface WebhookSource {
  /** Its name: a letter, then at most 63 of `a-z 0-9 _ -`. */
  readonly name: string
  /** Where it is served, below `/hooks/`. Default: `/hooks/<name>`. */
  readonly path?: string
  /** How the sender proves itself: `standard` (Standard Webhooks), `hmac`, `api_key`, `bearer` or `none`. Default: `standard`. */
  readonly auth?: WebhookAuth
  /** What an HMAC covers. Default: `body`. With `stripe` and `slack` a delivery older than five minutes is refused. */
  readonly scheme?: HmacScheme
  /**
   * The secret, mostly a reference: `${NAME}`. Several while one replaces another. Null: not set yet; the webhook is defined, but refused when it is
   * served.
   */
  readonly secret?: string | readonly string[] | null
  /** The event that a delivery becomes. */
  readonly emits: string
  /** Makes the data of the event: a function, or JSON with `{{ }}` over `body`, `headers` and `query`. Default: the body is the data. */
  readonly transform?: ((delivered: Delivered) => unknown) | Json
  /** True, with `auth: 'none'`: anyone who reaches the address may call. Default: false. */
  readonly unsigned?: boolean
  /** The header with the signature (hmac) or the key (api_key). Default: the usual one of the scheme. */
  readonly header?: string
  /**
   * The header with the sender's id of a delivery. Not with an HMAC, which does not cover headers: there the body is the id. Default: `webhook-id`.
   */
  readonly idHeader?: string
}

export interface WebhookDefinition {
  readonly name: string
  readonly path: string
  readonly auth: WebhookAuth
  readonly scheme: HmacScheme
  readonly secrets: readonly string[]
  /** It has no secret and does not declare that anyone may call. */
  readonly isUnproven: boolean
  readonly emits: string
  readonly transform: ((delivered: Delivered) => unknown) | null
  readonly header: string
  readonly idHeader: string
}

const NAME = /^[a-z][a-z0-9_-]{0,63}$/
const PATH = /^\/hooks(\/(?!\.{1,2}(\/|$))[A-Za-z0-9_.~-]+)+$/
const HEADER = /^[a-z0-9-]{1,64}$/
const TEMPLATE_ROOTS = ['body', 'headers', 'query']
const HEADERS: Readonly<Record<WebhookAuth, string>> = {
  standard: 'webhook-signature',
  hmac: 'x-hub-signature-256',
  api_key: 'x-api-key',
  bearer: 'authorization',
  none: '',
}
const SCHEME_HEADERS: Readonly<Record<HmacScheme, string>> = {
  body: HEADERS.hmac,
  stripe: 'stripe-signature',
  slack: 'x-slack-signature',
}

const invalid = (path: string, problem: string): TrihandError =>
  new TrihandError('MANIFEST_INVALID', `${path}: ${problem}`, { place: { path } })

const secretsOf = (source: WebhookSource, auth: WebhookAuth, path: string): readonly string[] => {
  if (source.secret === null) return []
  const given = source.secret === undefined ? [] : typeof source.secret === 'string' ? [source.secret] : source.secret
  const secrets = given.filter((secret) => secret !== '')
  if (auth === 'none') {
    if (secrets.length > 0) throw invalid(`${path}.secret`, 'auth none cannot have a secret')
    if (source.unsigned !== true)
      throw invalid(path, 'without a secret anyone could send: set unsigned: true to allow this')
    return []
  }
  if (source.unsigned === true) throw invalid(`${path}.unsigned`, `needs auth none, not ${auth}`)
  if (secrets.length === 0) throw invalid(`${path}.secret`, `auth ${auth} needs a secret, like \${NAME}`)
  return secrets
}

const transformOf = (given: WebhookSource['transform'], path: string): WebhookDefinition['transform'] => {
  if (given === undefined) return null
  if (typeof given === 'function') return given
  try {
    const template = compileTemplate(toJson(given), TEMPLATE_ROOTS)
    return ({ body, headers, query }) => template({ body, headers, query })
  } catch (error) {
    if (error instanceof TrihandError)
      throw new TrihandError(error.code, error.detail, { place: { ...error.place, path }, cause: error })
    throw error
  }
}

const headerOf = (given: string | undefined, usual: string, path: string): string => {
  const header = (given ?? usual).toLowerCase()
  if (header !== '' && !HEADER.test(header)) throw invalid(path, `"${given}" is not the name of a header`)
  return header
}

const schemeOf = ({ scheme, idHeader }: WebhookSource, auth: WebhookAuth, path: string): HmacScheme => {
  if (auth !== 'hmac') {
    if (scheme !== undefined) throw invalid(`${path}.scheme`, `needs auth hmac, not ${auth}`)
    return 'body'
  }
  if (idHeader !== undefined)
    throw invalid(`${path}.idHeader`, 'an HMAC does not cover headers: the digest of the body is the id of a delivery')
  if (scheme !== undefined && !HMAC_SCHEMES.includes(scheme))
    throw invalid(`${path}.scheme`, `expected one of ${HMAC_SCHEMES.join(', ')}`)
  return scheme ?? 'body'
}

const defineWebhook = (source: WebhookSource): WebhookDefinition => {
  const { name, emits, auth = 'standard' } = source
  const path = `webhooks.${name}`
  if (!NAME.test(name)) throw invalid(path, 'a name must begin with a letter and have at most 64 of a-z 0-9 _ -')
  if (!WEBHOOK_AUTHS.includes(auth)) throw invalid(`${path}.auth`, `expected one of ${WEBHOOK_AUTHS.join(', ')}`)
  if (!isEventType(emits)) throw invalid(`${path}.emits`, `"${emits}" is not an event type`)
  if (isReservedType(emits))
    throw new TrihandError('EVENT_RESERVED', `${emits} has a reserved prefix`, { place: { path: `${path}.emits` } })
  if (auth === 'standard' && (source.header ?? source.idHeader) !== undefined)
    throw invalid(path, 'auth standard has fixed headers')
  const served = source.path ?? `/hooks/${name}`
  if (!PATH.test(served)) throw invalid(`${path}.path`, `"${served}" is not a path under /hooks/`)
  const scheme = schemeOf(source, auth, path)
  return {
    name,
    path: served,
    auth,
    scheme,
    secrets: secretsOf(source, auth, path),
    isUnproven: source.secret === null,
    emits,
    transform: transformOf(source.transform, `${path}.transform`),
    header: headerOf(source.header, auth === 'hmac' ? SCHEME_HEADERS[scheme] : HEADERS[auth], `${path}.header`),
    idHeader: headerOf(source.idHeader, 'webhook-id', `${path}.idHeader`),
  }
}

/** By path. */
export const defineWebhooks = (sources: readonly WebhookSource[]): ReadonlyMap<string, WebhookDefinition> => {
  const webhooks = new Map<string, WebhookDefinition>()
  for (const source of sources) {
    const webhook = defineWebhook(source)
    const other = [...webhooks.values()].find(({ name, path }) => name === webhook.name || path === webhook.path)
    if (other !== undefined)
      throw new TrihandError('MANIFEST_DUPLICATE_NAME', `two webhooks share the name or the path of ${webhook.name}`)
    webhooks.set(webhook.path, webhook)
  }
  return webhooks
}
