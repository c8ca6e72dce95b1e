/**
 * Dead letters of webhooks: deliveries that made no event, with the error of each.
 *
 * Owns the reading of stored deliveries. The error of a delivery is in the event that reported its refusal (triggers/source.ts).
 */
import type { DeadLetter } from '#http/openapi/api.ts'
import type { Service } from '#http/server/service.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { Document } from '#ports/reader.ts'
import { refusedId } from '#triggers/source.ts'
import { DELIVERY_TABLE, type Kept, sourceOf } from '#triggers/webhooks.ts'
import { isoTime } from './time.ts'

type Asked = Pick<Service, 'reader' | 'tenant' | 'system'>

const SHOWN = 2_000

const textOrNull = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null)

const refusalOf = async ({ reader, tenant, system }: Asked, webhook: string, delivery: string) => {
  const definition = [...system.webhooks.values()].find(({ name }) => name === webhook)
  const told = await reader.eventsWithId(tenant, refusedId(delivery))
  const event = told.findLast(({ source }) => definition === undefined || source === sourceOf(definition))
  const data = event?.data ?? null
  const { code, detail } = isJsonRecord(data) ? data : {}
  return { code: textOrNull(code), detail: textOrNull(detail) }
}

const letterOf = async (asked: Asked, { key, value }: Document): Promise<DeadLetter> => {
  const [webhook, delivery] = [key.slice(0, key.indexOf('/')), key.slice(key.indexOf('/') + 1)]
  const { raw, headers, receivedAt } = value as Kept
  return {
    webhook,
    delivery,
    received_at: isoTime(receivedAt),
    media: headers['content-type'] ?? '',
    body: raw.slice(0, SHOWN),
    ...(await refusalOf(asked, webhook, delivery)),
  }
}

export const deadLetters = async (
  asked: Asked,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly DeadLetter[]> => {
  const kept = await asked.reader.documents({ tenant: asked.tenant, table: DELIVERY_TABLE, after, limit })
  return Promise.all(kept.map((document) => letterOf(asked, document)))
}
