/** A provider's own data survives JSON: bytes as base64, nothing where there was nothing. */
import { expect, test } from 'vitest'
import { plainMeta } from './plain-meta.ts'

test('bytes become base64, also in the depth, and what is undefined is left out', () => {
  const given = {
    anthropic: { signature: 's', list: [new Uint8Array([1, 2, 255])], bytes: Buffer.from('hi'), no: undefined },
  }
  expect(plainMeta(given)).toEqual({ meta: { anthropic: { signature: 's', list: ['AQL/'], bytes: 'aGk=' } } })
})

test('no data, no member', () => {
  expect([plainMeta(undefined), plainMeta(null)]).toEqual([{}, {}])
})
