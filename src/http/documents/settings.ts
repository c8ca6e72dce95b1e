/** Schemas of the server's settings and of its webhook endpoints. */
import { described, instant, list, orNull, record, ref, text, whole, words, yesNo } from '#http/openapi/schema.ts'

export const settingComponents = {
  ConfiguredSetting: record({
    name: text,
    meaning: text,
    value: described('null: not set, or a secret', orNull(text)),
    source: words(['flag', 'environment', '.env', 'default']),
    is_secret: yesNo,
  }),
  WebhookEndpoint: record({
    name: text,
    handler: described('each delivery is a run of it', text),
    url: described('its host, or the reference that it was written as', text),
    events: list(text),
    is_signed: yesNo,
    failing_since: described('null: it took what it was sent last', orNull(instant)),
    off: described('why nothing is sent to it; null: it is on', orNull(text)),
  }),
  DeliveryTry: record({
    at: instant,
    kind: words(['delivered', 'failed', 'unwanted', 'off']),
    detail: text,
  }),
  WebhookDelivery: record({
    id: described('the run that delivers', text),
    status: text,
    event: described('its sequence', orNull(whole)),
    created_at: instant,
    next_at: described('of its next try; null: there is none to come', orNull(instant)),
    tries: list(ref('DeliveryTry')),
  }),
}
