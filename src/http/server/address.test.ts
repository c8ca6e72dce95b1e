/** The address of a request, and when a proxy's header is trusted. */
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { LOOPBACK } from '#http/access/auth-settings.ts'
import { addressOf } from './address.ts'

const app = new Hono()
app.get('/', (context) => context.json({ from: addressOf(context, { trustsProxy: true }) }))
app.get('/usual', (context) => context.json({ from: addressOf(context, LOOPBACK) }))

const from = async (address: string | undefined, forwarded?: string, path = '/'): Promise<unknown> => {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  return ((await (await app.request(path, { headers }, { address })).json()) as { from: unknown }).from
}

test.each([
  ['203.0.113.7', undefined, '203.0.113.7'],
  ['::ffff:203.0.113.7', undefined, '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', undefined, '2001:db8:1:2'],
  ['2001:DB8::7', undefined, '2001:db8:0:0'],
  ['fe80::1%eth0', undefined, 'fe80:0:0:0'],
  ['::1', undefined, '0:0:0:0'],
  // Only a peer on this machine is trusted, and of its header only the last entry, which it has written itself.
  ['203.0.113.7', '198.51.100.1', '203.0.113.7'],
  ['127.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['::1', '10.0.0.1, 198.51.100.1', '198.51.100.1'],
  ['::ffff:127.0.0.1', '2001:db8:1:2::9', '2001:db8:1:2'],
  ['127.0.0.1', ' ', '127.0.0.1'],
  ['127.0.0.1', `1:${'2:'.repeat(500)}`, '1:2:2:2'],
])('%s with x-forwarded-for %s counts as %s', async (peer, said, expected) => {
  expect(await from(peer, said)).toBe(expected)
})

test('x-forwarded-for is ignored unless the operator says that a proxy sets it (13.3.4)', async () => {
  for (const peer of ['127.0.0.1', '::ffff:127.0.0.1', '203.0.113.7'])
    expect(await from(peer, '198.51.100.1', '/usual')).toBe(peer.replace('::ffff:', ''))
  expect(await from('127.0.0.1', '198.51.100.1')).toBe('198.51.100.1')
})

test('without a socket the address is unknown', async () => {
  expect(await from(undefined, '198.51.100.1')).toBe(null)
})
