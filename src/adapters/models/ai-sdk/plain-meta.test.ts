/** A provider's own data survives JSON: bytes become base64, and absent data adds no member. */
import { expect, test } from 'vitest'
import { plainMeta } from './plain-meta.ts'

test('bytes become base64 at any depth, and undefined members are left out', () => {
  const given = {
    anthropic: { signature: 's', list: [new Uint8Array([1, 2, 255])], bytes: Buffer.from('hi'), no: undefined },
  }
  expect(plainMeta(given)).toEqual({ meta: { anthropic: { signature: 's', list: ['AQL/'], bytes: 'aGk=' } } })
})

test('without provider data there is no meta member', () => {
  expect([plainMeta(undefined), plainMeta(null)]).toEqual([{}, {}])
})
