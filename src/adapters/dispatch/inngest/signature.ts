/**
 * Who calls: Inngest signs every request with the key that both know.
 *
 * Owns the check, so that it holds also where the SDK leaves it out (development mode, the sync call). Bodies are signed in canonical
 * form, not as they were sent.
 *
 * inngest-signature-1  A request without a good signature, or with one older than five minutes, is nobody's.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { canonical, toJson } from '#model/kernel/json.ts'

export const SIGNATURE_HEADER = 'x-inngest-signature'

const VALID_MS = 300_000

/** Keys carry their environment in front, which is not part of the secret. */
const secretOf = (key: string): string => key.replace(/^signkey-\w+-/, '')

const canonicalText = (body: string): string | null => {
  if (body === '') return ''
  try {
    return canonical(toJson(JSON.parse(body)))
  } catch {
    return null
  }
}

const isSignedWith = (key: string, text: string, seconds: string, given: Buffer): boolean => {
  const expected = createHmac('sha256', secretOf(key)).update(text).update(seconds).digest()
  return given.length === expected.length && timingSafeEqual(given, expected)
}

export const isSigned = (header: string | null, body: string, keys: readonly string[], now: number): boolean => {
  const parts = new URLSearchParams(header ?? '')
  const [seconds, signature] = [parts.get('t') ?? '', parts.get('s') ?? '']
  if (!/^\d{1,12}$/.test(seconds) || !/^[0-9a-f]{64}$/.test(signature)) return false
  if (Math.abs(now - Number(seconds) * 1_000) > VALID_MS) return false
  const text = canonicalText(body)
  const given = Buffer.from(signature, 'hex')
  return text !== null && keys.some((key) => isSignedWith(key, text, seconds, given))
}
