/**
 * Deliveries to a webhook endpoint, read from the runs that made them: each try, its result, and when the next one is.
 *
 * Owns the reading. The tries and their schedule are defined by executors/workflow/notices.ts.
 */
import type { DeliveryTry, WebhookDelivery, WebhookEndpoint } from '#http/openapi/api.ts'
import type { Service } from '#http/server/service.ts'
import type { EndpointDefinition } from '#manifest/define/endpoints.ts'
import { ENDPOINT_TABLE, endpointHandler, storedHealth } from '#model/flow/policies/endpoint-health.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { RunFact } from '#model/run/fact.ts'
import type { RunSummary } from '#ports/reader.ts'
import { isoTime, isoTimeOrNull } from './time.ts'

type Asked = Pick<Service, 'reader' | 'tenant'>

const MOST_FACTS = 200
const KINDS = ['delivered', 'failed', 'unwanted', 'off'] as const

const isTry = (step: string): boolean => step.startsWith('try[')

const ofResult = (value: Json): Omit<DeliveryTry, 'at'> => {
  const { kind, detail } = isJsonRecord(value) ? value : {}
  return { kind: KINDS.find((known) => known === kind) ?? 'failed', detail: typeof detail === 'string' ? detail : '' }
}

const tryIn = (fact: RunFact): Omit<DeliveryTry, 'at'> | null => {
  if (fact.type === 'step.completed' && isTry(fact.step) && 'value' in fact.result) return ofResult(fact.result.value)
  if (fact.type === 'step.failed' && isTry(fact.step)) return { kind: 'failed', detail: fact.error.message }
  return null
}

export const deliveryDocument = async ({ reader, tenant }: Asked, run: RunSummary): Promise<WebhookDelivery> => {
  const facts = await reader.facts(tenant, run.id, { after: 0, limit: MOST_FACTS })
  const tries = facts.flatMap((sealed) => {
    const tried = tryIn(readRunFact(sealed))
    return tried === null ? [] : [{ at: isoTime(sealed.recordedAt), ...tried }]
  })
  const { id, status, event, createdAt, wakeAt } = run
  return { id, status, event, created_at: isoTime(createdAt), next_at: isoTimeOrNull(wakeAt), tries }
}

/**
 * The path of an address may be a secret that lets anyone post there, so only its origin is shown. A reference to a variable is shown as it
 * is written.
 */
const shownUrl = (url: string): string =>
  URL.canParse(url) && !url.includes('${') ? `${new URL(url).origin}/…` : url.replace(/\?.*$/, '')

export const endpointDocument = async (
  { reader, tenant }: Asked,
  { name, url, events, secrets }: EndpointDefinition,
): Promise<WebhookEndpoint> => {
  const handler = endpointHandler(name)
  const { failingSince, off } = storedHealth(await reader.document(tenant, ENDPOINT_TABLE, handler))
  return {
    name,
    handler,
    url: shownUrl(url),
    events: [...events],
    is_signed: secrets.length > 0,
    failing_since: isoTimeOrNull(failingSince),
    off,
  }
}
