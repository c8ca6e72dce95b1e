/** Which addresses are public, compared with an independent calculation. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPublicAddress } from './public-address.ts'

const dotted = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.')

const isInside = (value: number): boolean => {
  const [a, b] = [value >>> 24, (value >>> 16) & 255]
  if ([0, 10, 127].includes(a) || a >= 224) return true
  if (a === 100) return b >= 64 && b < 128
  if (a === 172) return b >= 16 && b < 32
  return (a === 169 && b === 254) || (a === 192 && b === 168) || (a === 198 && (b === 18 || b === 19))
}

describe('IPv4', () => {
  test('no private, loopback, link-local or multicast address is public', () => {
    const anywhere = fc.oneof(
      fc.nat(0xffffffff),
      fc
        .tuple(fc.constantFrom(0, 10, 100, 127, 169, 172, 192, 198, 224, 255), fc.nat(0xffffff))
        .map(([a, rest]) => a * 2 ** 24 + rest),
      fc.nat(0xffff).map((rest) => 0xa9fe0000 + rest),
    )
    fc.assert(
      fc.property(anywhere, (value) => {
        if (isInside(value)) expect(isPublicAddress(dotted(value)), dotted(value)).toBe(false)
      }),
      { numRuns: 3_000 },
    )
  })

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '223.255.255.255',
  ])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })
})

describe('IPv6', () => {
  test('every IPv4 address inside an IPv6 address is refused, in each notation', () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), (value) => {
        const hex = `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`
        for (const address of [
          `::ffff:${dotted(value)}`,
          `::ffff:${hex}`,
          `::${dotted(value)}`,
          `64:ff9b::${hex}`,
          `2002:${hex}::1`,
        ])
          expect(isPublicAddress(address), address).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'fec0::1',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '3fff::1',
    '64:ff9b:1::1',
    '4000::1',
    '2606:4700::1111%1',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  test.each(['2606:4700:4700::1111', '2a00:1450:4001:81b::200e'])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })
})

test('text that is not a plain address is not public', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      if (!/^[\d.]+$/.test(text) && !text.includes(':')) expect(isPublicAddress(text)).toBe(false)
    }),
  )
  expect(['', '127.1', '0x7f.1', '[2606:4700::1]', 'example.org'].map(isPublicAddress)).toEqual(Array(5).fill(false))
})
