/** Tests which addresses need credentials, and which host names a server answers to. */
import { expect, test } from 'vitest'
import { authSettings, LOOPBACK } from './auth-settings.ts'

test('loopback needs no credentials; any other address and any public name do', () => {
  for (const host of ['127.0.0.1', 'localhost', '::1', 'LOCALHOST'])
    expect(authSettings({ host, publicUrl: null }, 'k')).toBe(LOOPBACK)
  expect(authSettings({ host: '127.0.0.1', publicUrl: 'https://th.example' }, 'k')).toEqual({
    isRequired: true,
    hosts: ['127.0.0.1', 'th.example'],
    takesAddresses: false,
    origin: 'https://th.example',
    signingKey: 'k',
    metricsToken: null,
    trustsProxy: false,
  })
  expect(authSettings({ host: '10.0.0.7', publicUrl: null }, 'k')).toMatchObject({
    isRequired: true,
    hosts: ['10.0.0.7'],
  })
  expect(authSettings({ host: '0.0.0.0', publicUrl: null }, 'k')).toMatchObject({ hosts: [], takesAddresses: true })
})
