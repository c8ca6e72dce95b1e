/**
 * Parses CloudEvents 1.0 from HTTP requests: structured, binary and in batches.
 *
 * Owns their format. Returns events as the engine takes them; extensions other than `traceparent` are accepted but not stored. Data that is
 * not JSON is stored as text or base64, with its type.
 */
import type { Context } from 'hono'
import type { IncomingEvent } from '#engine/core/incoming.ts'
import { type Members, optionalText, parseJson, textOf } from '#http/server/body.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import { parseIsoTime } from './time.ts'

const CODE = 'EVENT_INVALID'
export const STRUCTURED = 'application/cloudevents+json'
export const BATCH = 'application/cloudevents-batch+json'
const MAX_BATCH = 1_000
const PREFIX = 'ce-'
const ATTRIBUTE = /^[a-z0-9]{1,20}$/
const JSON_DATA = /^(application|text)\/([\w.-]+\+)?json$/

const mediaOf = (text: string): string => text.split(';')[0]?.trim().toLowerCase() ?? ''

export type CloudEventsMode = 'structured' | 'binary' | 'batch'

/** Null: the short form of this API. */
export const modeOf = (context: Context): CloudEventsMode | null => {
  const type = mediaOf(context.req.header('content-type') ?? '')
  if (type === STRUCTURED) return 'structured'
  if (type === BATCH) return 'batch'
  return context.req.header('ce-specversion') === undefined ? null : 'binary'
}

const timeOf = (members: Members): number | undefined => {
  const text = optionalText(members, 'time', CODE)
  const time = text === undefined ? undefined : parseIsoTime(text)
  if (time === null) throw new TrihandError(CODE, `time is "${text}"; expected an instant with its offset`)
  return time
}

/** Builds the event from its attributes, in any mode. */
const eventOf = (attributes: Members, data: Json): IncomingEvent => {
  const version = textOf(attributes, 'specversion', CODE)
  if (version !== '1.0') throw new TrihandError(CODE, `specversion is "${version}"; expected 1.0`)
  const odd = Object.keys(attributes).find((name) => !ATTRIBUTE.test(name))
  if (odd !== undefined) throw new TrihandError(CODE, `"${odd}" is not a valid CloudEvents attribute name`)
  const subject = optionalText(attributes, 'subject', CODE)
  const traceparent = optionalText(attributes, 'traceparent', CODE)
  const time = timeOf(attributes)
  return {
    id: textOf(attributes, 'id', CODE),
    source: textOf(attributes, 'source', CODE),
    type: textOf(attributes, 'type', CODE),
    data,
    ...(subject === undefined ? {} : { subject }),
    ...(time === undefined ? {} : { time }),
    ...(traceparent === undefined ? {} : { traceparent }),
  }
}

const dataOf = (bytes: Uint8Array<ArrayBuffer>, type: string): Json => {
  if (JSON_DATA.test(type)) return parseJson(bytes.buffer)
  try {
    // A byte order mark is a part of the data.
    return { content_type: type, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    return { content_type: type, base64: Buffer.from(bytes).toString('base64') }
  }
}

const unpadded = (text: string): string => text.replace(/=+$/, '')

/** Null: it is not valid base64. A decoder would skip unknown characters, and the data would be damaged. */
const bytesIn = (encoded: string): Uint8Array<ArrayBuffer> | null => {
  const bytes = new Uint8Array(Buffer.from(encoded, 'base64'))
  const again = Buffer.from(bytes).toString('base64')
  return encoded === again || encoded === unpadded(again) ? bytes : null
}

const structured = (value: Json): IncomingEvent => {
  if (!isJsonRecord(value)) throw new TrihandError(CODE, 'an event must be an object')
  const { data, data_base64: encoded, ...attributes } = value as Members
  if (encoded === undefined) return eventOf(attributes, data ?? {})
  if (data !== undefined) throw new TrihandError(CODE, 'data and data_base64 exclude each other')
  const bytes = typeof encoded === 'string' ? bytesIn(encoded) : null
  if (bytes === null) throw new TrihandError(CODE, 'data_base64 is not base64')
  const type = mediaOf(optionalText(attributes, 'datacontenttype', CODE) ?? 'application/json')
  return eventOf(attributes, dataOf(bytes, type))
}

const decoded = (value: string, name: string): string => {
  try {
    return decodeURIComponent(value)
  } catch (error) {
    throw new TrihandError(CODE, `the header ${name} is not percent-encoded`, { cause: error })
  }
}

const binary = (context: Context, bytes: ArrayBuffer): IncomingEvent => {
  const headers = Object.entries(context.req.header()).filter(([name]) => name.startsWith(PREFIX))
  const attributes = headers.map(([name, value]) => [name.slice(PREFIX.length), decoded(value, name)])
  const type = mediaOf(context.req.header('content-type') ?? '')
  const data = bytes.byteLength === 0 ? {} : dataOf(new Uint8Array(bytes.slice(0)), type)
  return eventOf(Object.fromEntries(attributes), data)
}

/** Returns one event, or all those of a batch. */
export const cloudEvents = async (context: Context, mode: CloudEventsMode): Promise<readonly IncomingEvent[]> => {
  const bytes = await context.req.arrayBuffer()
  if (mode === 'binary') return [binary(context, bytes)]
  const value = parseJson(bytes)
  if (mode === 'structured') return [structured(value)]
  if (!Array.isArray(value)) throw new TrihandError(CODE, 'a batch must be a list of events')
  if (value.length > MAX_BATCH)
    throw new TrihandError('PAYLOAD_TOO_LARGE', `a batch may have at most ${MAX_BATCH} events`)
  return value.map(structured)
}
