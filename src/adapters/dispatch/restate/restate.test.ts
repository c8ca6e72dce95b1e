/** Which options `restate(…)` refuses before it opens anything. */
import { describe, expect, test } from 'vitest'
import { restate } from './restate.ts'

const ingress = 'http://127.0.0.1:8080'

describe('restate options', () => {
  test.each([
    ['an ingress that is no address', { ingress: 'localhost:8080' }, 'ingress is localhost:8080'],
    ['an admin door that is no address', { ingress, admin: 'ftp://x' }, 'admin is ftp://x'],
    ['a name that Restate would refuse', { ingress, name: 'My shop' }, 'name is My shop'],
    ['[S22] a foreign host without identity keys', { ingress, host: '0.0.0.0' }, 'identityKeys are required'],
    ['[S22] a foreign address without identity keys', { ingress, url: 'http://shop.example' }, 'at shop.example'],
  ])('%s is CONFIG_INVALID', (_, options, detail) => {
    expect(() => restate(options)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
    expect(() => restate(options)).toThrow(detail)
  })

  test('a host that is not loopback is accepted with identity keys', () => {
    expect(() => restate({ ingress, host: '0.0.0.0', identityKeys: ['publickeyv1_x'] })).not.toThrow()
  })
})
