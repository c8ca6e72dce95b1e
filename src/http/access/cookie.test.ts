/** The login cookie of a browser: what is accepted and what is not. */
import { expect, test } from 'vitest'
import { loginCookie, logoutCookie, readLogin } from './cookie.ts'

const KEY = 'k'.repeat(32)
const HOURS = 3_600_000
const pairOf = (cookie: string): string => cookie.split(';')[0] ?? ''

test('a login can be read back for twelve hours, among other cookies', () => {
  const cookie = loginCookie('tok_1', 'l1', 1_000, { key: KEY, isSecure: true })
  expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/)
  const header = `theme=dark; ${pairOf(cookie)}; other=1`
  expect(readLogin(header, 1_000 + 12 * HOURS - 1, KEY)).toEqual({
    token: 'tok_1',
    id: 'l1',
    until: 1_000 + 12 * HOURS,
  })
  expect(readLogin(header, 1_000 + 12 * HOURS, KEY)).toBeNull()
})

test('cookie-1: a cookie that was changed at any character is not accepted', () => {
  const value = pairOf(loginCookie('tok_1', 'l1', 0, { key: KEY, isSecure: false }))
  expect(readLogin(value, 1, KEY)).toMatchObject({ token: 'tok_1' })
  for (let i = value.indexOf('=') + 1; i < value.length; i++) {
    const other = value[i] === 'a' ? 'b' : 'a'
    expect(readLogin(value.slice(0, i) + other + value.slice(i + 1), 1, KEY)).toBeNull()
  }
  for (const header of [undefined, '', 'trihand_session=', 'trihand_session=..', 'trihand_session=tok_1'])
    expect(readLogin(header, 1, KEY)).toBeNull()
})

test('cookie-1: with another key, or with none, nothing is read', () => {
  const value = pairOf(loginCookie('tok_1', 'l1', 0, { key: KEY, isSecure: false }))
  expect(readLogin(value, 1, 'x'.repeat(32))).toBeNull()
  const unsigned = pairOf(loginCookie('tok_1', 'l1', 0, { key: '', isSecure: false }))
  expect(readLogin(unsigned, 1, '')).toBeNull()
})

test('logging out ends the cookie at once', () => {
  expect(logoutCookie({ isSecure: false })).toBe('trihand_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0')
})
