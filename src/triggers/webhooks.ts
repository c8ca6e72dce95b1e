/**
 * Deliveries of webhooks: the sender is checked, the body becomes an event, and a delivery that cannot become one is stored for replay.
 *
 * Owns the order: path, sender, id, transform, event. The engine decides on admission; the HTTP server owns the socket.
 *
 * webhook-1  No part of a delivery is read before its sender is known.
 * webhook-2  A delivery is one event however often it comes: its id is the sender's where the proof covers it or holds the secret, and the digest
 *            of the body where only the body is signed.
 * webhook-3  A delivery from the right sender that makes no event is recorded, with its raw body, and can be replayed.
 */
import type { Receipt } from '#engine/core/incoming.ts'
import type { System } from '#manifest/define/system.ts'
import type { Delivered, WebhookDefinition } from '#manifest/define/webhooks.ts'
import { type Environment, resolveReferences } from '#manifest/expressions/reference.ts'
import { isPlainId, type StoredEvent } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import type { DocumentWrite } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import type { Delivery } from './signature.ts'
import { refuse, type SourceDeps } from './source.ts'

/** A stored delivery; its key is the name of its webhook, a slash and its id. */
export type Kept = {
  readonly raw: string
  readonly encoding: 'utf8' | 'base64'
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly receivedAt: Instant
}

export interface WebhookDeps extends Pick<SourceDeps, 'send' | 'note' | 'clock' | 'ids' | 'tenant'> {
  readonly reader: Pick<Reader, 'document' | 'eventsWithId'>
  readonly environment: Environment
  system(): System
}

export const DELIVERY_TABLE = 'trihand.delivery'
const MAX_DELIVERY_ID = 200

/** The source in the events of a webhook. */
export const sourceOf = ({ path }: Pick<WebhookDefinition, 'path'>): string => path

const secretsOf = ({ secrets }: WebhookDefinition, environment: Environment): readonly string[] =>
  secrets.map((secret) => resolveReferences(secret, environment))

/** Loaded when first needed: most systems have no webhook. */
const loadSignature = () => import('./signature.ts')

/** Runs before anything is served: a system with a missing secret does not start. */
export const checkSecrets = async ({ webhooks }: System, environment: Environment): Promise<void> => {
  if (webhooks.size === 0) return
  const { standardKey } = await loadSignature()
  for (const webhook of webhooks.values()) {
    if (webhook.isUnproven)
      throw new TrihandError('WEBHOOK_UNSIGNED', `webhook ${webhook.name} has no secret, so anyone could send`, {
        place: { path: `webhooks.${webhook.name}` },
      })
    const secrets = secretsOf(webhook, environment)
    if (webhook.auth === 'standard') for (const secret of secrets) standardKey(secret)
    if (secrets.includes('')) throw new TrihandError('ENV_MISSING', `the secret of webhook ${webhook.name} is empty`)
  }
}

const textOf = (body: Uint8Array): Pick<Kept, 'raw' | 'encoding'> => {
  try {
    return { raw: new TextDecoder('utf-8', { fatal: true }).decode(body), encoding: 'utf8' }
  } catch {
    return { raw: Buffer.from(body).toString('base64'), encoding: 'base64' }
  }
}

const parseJson = (raw: string): Json => {
  try {
    return toJson(JSON.parse(raw))
  } catch (error) {
    if (error instanceof TrihandError) throw error
    throw new TrihandError('NOT_JSON', 'the content-type says JSON, but the body is not JSON', { cause: error })
  }
}

/** Decodes the body by its media type: JSON, the fields of a form, or the text itself. */
const bodyOf = ({ raw, headers }: Kept): Json => {
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'application/json' || type.endsWith('+json')) return parseJson(raw)
  if (type === 'application/x-www-form-urlencoded') return toJson(Object.fromEntries(new URLSearchParams(raw)))
  return raw
}

const dataOf = async (webhook: WebhookDefinition, kept: Kept): Promise<Json> => {
  const body = bodyOf(kept)
  if (webhook.transform === null) return body
  const { raw, headers, query, receivedAt } = kept
  const delivered: Delivered = { body, headers, query, raw, receivedAt }
  try {
    const data = toJson(await webhook.transform(delivered))
    if (data !== null) return data
  } catch (error) {
    if (error instanceof TrihandError) throw error
    throw new TrihandError('TRANSFORM_FAILED', error instanceof Error ? error.message : String(error), { cause: error })
  }
  throw new TrihandError('TRANSFORM_FAILED', `the transform of ${webhook.name} returned no event`)
}

export class Webhooks {
  readonly #deps: WebhookDeps

  constructor(deps: WebhookDeps) {
    this.#deps = deps
  }

  /** Settles once the event is on disk. */
  async receive(delivery: Delivery): Promise<Receipt> {
    const { system, environment, clock } = this.#deps
    const webhook = system().webhooks.get(delivery.path)
    if (webhook === undefined || webhook.isUnproven)
      throw new TrihandError('NOT_FOUND', `there is no webhook at ${delivery.path}`)
    const now = clock.now()
    const { checkSender, digestOf } = await loadSignature()
    checkSender(delivery, webhook, secretsOf(webhook, environment), now)
    const { authorization: _, cookie: __, [webhook.header]: ___, ...headers } = delivery.headers
    const kept: Kept = { ...textOf(delivery.body), headers, query: delivery.query, receivedAt: now }
    // An HMAC does not cover headers: a sender who saw a delivery could send it again under another id.
    const id = webhook.auth === 'hmac' ? digestOf(delivery.body) : this.#idOf(webhook, delivery)
    return this.#admit(webhook, id, kept)
  }

  /**
   * Sends a stored delivery again, through the transform as it is now. `isRepeated`: an earlier attempt at the same replay may have sent it; then
   * the event that it became is returned.
   */
  async replay(name: string, id: string, { isRepeated = false } = {}): Promise<Receipt> {
    const webhook = this.#find(name)
    if (webhook === undefined) throw new TrihandError('NOT_FOUND', `there is no webhook ${name}`)
    const kept = await this.#deps.reader.document(this.#deps.tenant, DELIVERY_TABLE, `${name}/${id}`)
    const { send, note } = this.#deps
    if (kept === null) {
      const became = isRepeated ? await this.#becameOf(webhook, id) : undefined
      if (became === undefined) throw new TrihandError('NOT_FOUND', `${name} has no delivery ${id} to replay`)
      return send({ type: became.type, source: became.source, id, data: became.data }, { idIsDigest: true })
    }
    const event = { type: webhook.emits, source: sourceOf(webhook), id, data: await dataOf(webhook, kept as Kept) }
    const documents = [this.#keep(webhook, id, null)]
    const receipt = await send(event, { documents })
    if (receipt.duplicate) await note(documents)
    return receipt
  }

  /** Returns the event that this body would become; null if there is no such webhook. Sends nothing. */
  async rehearse(name: string, body: Json): Promise<{ readonly type: string; readonly data: Json } | null> {
    const webhook = this.#find(name)
    if (webhook === undefined) return null
    const headers = { 'content-type': 'application/json' }
    const receivedAt = this.#deps.clock.now()
    const kept: Kept = { raw: JSON.stringify(body), encoding: 'utf8', headers, query: {}, receivedAt }
    return { type: webhook.emits, data: await dataOf(webhook, kept) }
  }

  async #becameOf(webhook: WebhookDefinition, id: string): Promise<StoredEvent | undefined> {
    const { reader, tenant } = this.#deps
    return (await reader.eventsWithId(tenant, id)).find(({ source }) => source === sourceOf(webhook))
  }

  #find(name: string): WebhookDefinition | undefined {
    return [...this.#deps.system().webhooks.values()].find((webhook) => webhook.name === name)
  }

  /** webhook-2. */
  #idOf({ idHeader }: WebhookDefinition, { headers }: Delivery): string | null {
    const given = headers[idHeader]
    if (given === undefined) return null
    if (isPlainId(given) && given.length <= MAX_DELIVERY_ID) return given
    throw new TrihandError(
      'EVENT_INVALID',
      `${idHeader} must have 1 to ${MAX_DELIVERY_ID} characters and no control characters`,
    )
  }

  async #admit(webhook: WebhookDefinition, given: string | null, kept: Kept): Promise<Receipt> {
    const { send, ids } = this.#deps
    const id = given ?? `${kept.receivedAt.toString(36)}-${ids.digest(kept.raw)}`
    try {
      const data = await dataOf(webhook, kept)
      const event = { type: webhook.emits, source: sourceOf(webhook), data, ...(given === null ? {} : { id: given }) }
      // The transform makes the data again, and may read the time or a header: only the body was signed.
      return await send(event, { idIsDigest: webhook.auth === 'hmac' })
    } catch (error) {
      if (error instanceof TrihandError && !error.retryable && error.code !== 'EVENT_ID_REUSED')
        return this.#refuse(webhook, id, kept, error)
      throw error
    }
  }

  /** webhook-3. */
  async #refuse(webhook: WebhookDefinition, id: string, kept: Kept, error: TrihandError): Promise<never> {
    const occurrence = { type: webhook.emits, id, data: null }
    await refuse(this.#deps, sourceOf(webhook), occurrence, error, [this.#keep(webhook, id, kept)])
    const detail = `${error.detail}; the delivery is kept as ${id}`
    throw new TrihandError(error.status === 422 ? error.code : 'TRANSFORM_FAILED', detail, { cause: error })
  }

  #keep(webhook: WebhookDefinition, id: string, kept: Kept | null): DocumentWrite {
    return { tenant: this.#deps.tenant, table: DELIVERY_TABLE, key: `${webhook.name}/${id}`, value: kept as Json }
  }
}
