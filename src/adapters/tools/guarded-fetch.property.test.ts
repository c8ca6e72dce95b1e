/** guarded-fetch-1: ten thousand spellings of internal addresses, with every host allowed and a real server listening, never reach it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TrihandError } from '#model/kernel/errors.ts'
import { guardedFetch } from './guarded-fetch.ts'
import { isPublicAddress } from './public-address.ts'

let hits = 0
let port = 0
const server = createServer((_, response) => {
  hits++
  response.end()
})
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  port = (server.address() as AddressInfo).port
})
afterAll(() => server.close())

type Bytes = readonly [number, number, number, number]

const LOOPBACK: Bytes = [127, 0, 0, 1]
const inside: fc.Arbitrary<Bytes> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(LOOPBACK) },
  fc.constantFrom<Bytes>(
    [0, 0, 0, 0],
    [10, 0, 0, 1],
    [169, 254, 169, 254],
    [192, 168, 1, 1],
    [172, 16, 0, 1],
    [100, 64, 0, 1],
  ),
)
const radix = (value: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constant(String(value)),
    fc.nat(6).map((zeros) => `0x${'0'.repeat(zeros)}${value.toString(16)}`),
    fc.nat(6).map((zeros) => `0X${'0'.repeat(zeros)}${value.toString(16).toUpperCase()}`),
    fc.nat(6).map((zeros) => `0${'0'.repeat(zeros)}${value.toString(8)}`),
  )
const whole = (bytes: readonly number[]): number => bytes.reduce((sum, byte) => sum * 256 + byte, 0)

/** One to four numbers, each decimal, octal or hexadecimal; the last one covers the remaining bytes. */
const ipv4 = (bytes: Bytes): fc.Arbitrary<string> =>
  fc.integer({ min: 1, max: 4 }).chain((parts) => {
    const head = bytes.slice(0, parts - 1).map(radix)
    return fc.tuple(...head, radix(whole(bytes.slice(parts - 1)))).map((texts) => texts.join('.'))
  })

const hex = (bytes: Bytes): string => `${whole(bytes.slice(0, 2)).toString(16)}:${whole(bytes.slice(2)).toString(16)}`
const ipv6 = (bytes: Bytes): fc.Arbitrary<string> =>
  fc.constantFrom(
    `[::ffff:${bytes.join('.')}]`,
    `[::FFFF:${hex(bytes)}]`,
    `[0:0:0:0:0:ffff:${hex(bytes)}]`,
    `[0000:0000:0000:0000:0000:ffff:${hex(bytes)}]`,
    `[::${bytes.join('.')}]`,
    `[64:ff9b::${hex(bytes)}]`,
    `[2002:${hex(bytes)}::]`,
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::]',
    '[fe80::1]',
    '[fe80::1%25lo]',
    '[fd00::1]',
  )

const FULL_WIDTH = '０１２３４５６７８９'
const CIRCLED = '⓪①②③④⑤⑥⑦⑧⑨'
const withDigits =
  (digits: string) =>
  (host: string): string =>
    host.replaceAll(/\d/g, (digit) => [...digits][Number(digit)] ?? digit)

const disguise = fc.constantFrom<(host: string) => string>(
  (host) => host,
  (host) => `${host}.`,
  (host) => host.replaceAll('.', '。'),
  (host) => host.replaceAll('.', '%2e'),
  (host) => host.replaceAll(/[0-9]/g, (digit) => `%3${digit}`),
  withDigits(FULL_WIDTH),
  withDigits(CIRCLED),
)
const around = fc.constantFrom<(host: string) => string>(
  (host) => `http://${host}`,
  (host) => `HTTP://${host}`,
  (host) => `http:${host}`,
  (host) => `http:/${host}`,
  (host) => `http:\\\\${host}`,
  (host) => ` http://${host}`,
  (host) => `ht\ntp://${host}`,
  (host) => `http://example.org@${host}`,
  (host) => `http://example.org:80@${host}`,
  (host) => `http://example.org%2f@${host}`,
)
/** Names that always resolve to internal addresses. */
const named = fc.constantFrom(
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'rebind.example',
  '127.0.0.1.nip.example',
)

const spelling: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      {
        weight: 20,
        arbitrary: inside.chain((bytes) => fc.tuple(ipv4(bytes), disguise).map(([host, hide]) => hide(host))),
      },
      { weight: 8, arbitrary: inside.chain(ipv6) },
      { weight: 1, arbitrary: named },
    ),
    around,
    fc.constantFrom('/', '', '/x?y#z', '\\x'),
  )
  .map(([host, dress, rest]) => `${dress(host)}:${port}${rest}`)

test('[S10] guarded-fetch-1: none of ten thousand spellings of an internal address is reached', async () => {
  const fetch = guardedFetch(
    { allowsHost: () => true, ports: [port, 80] },
    { resolve: async () => ['127.0.0.1'], mayReach: isPublicAddress },
  )
  const outcome = async (url: string): Promise<string> =>
    fetch(url).then(
      () => 'reached',
      (error: unknown) => (error instanceof TrihandError ? error.code : String(error)),
    )
  await fc.assert(
    fc.asyncProperty(spelling, async (url) => {
      expect(await outcome(url), url).toBe('URL_BLOCKED')
    }),
    { numRuns: 10_000 },
  )
  expect(hits).toBe(0)
})
