/** Settings from the environment: valid values, precedence, and refusals. */
import { expect, test } from 'vitest'
import { defaultLedger, isServerUrl, parsePort, readSettings } from './settings.ts'

test('without any variable the defaults apply: a data folder and its ledger', () => {
  const settings = readSettings({})
  expect(settings).toEqual({
    database: undefined,
    retention: undefined,
    log: 'off',
    intake: { queue: 2_000, wait: 1_000 },
    limits: { requestRate: 100, streams: 100 },
    metricsToken: null,
    trustsProxy: false,
    port: null,
    server: undefined,
    host: '127.0.0.1',
    publicUrl: null,
    signingKey: undefined,
    token: undefined,
    dataFolder: '.trihand',
    worker: { pool: undefined, labels: undefined, slots: undefined, drain: undefined, port: null },
    dispatcher: null,
  })
  expect(defaultLedger(settings)).toBe('.trihand/trihand.db')
})

test('variables that are set apply, and an empty one counts as not set', () => {
  const env = { DATABASE_URL: 'file:./x.db', PORT: '0', TRIHAND_URL: 'http://127.0.0.1:4400', TRIHAND_DATA: 'data' }
  const settings = readSettings(env)
  expect(settings).toMatchObject({
    database: 'file:./x.db',
    port: 0,
    server: 'http://127.0.0.1:4400',
    dataFolder: 'data',
  })
  expect(defaultLedger(settings)).toBe('file:./x.db')
  expect(readSettings({ DATABASE_URL: '', PORT: '', TRIHAND_URL: '', TRIHAND_DATA: '' })).toEqual(readSettings({}))
})

test('[M4] the limits of one credential can be set, and the rate can be switched off (13.2.5)', () => {
  const env = { TRIHAND_REQUEST_RATE: '7', TRIHAND_STREAM_LIMIT: '3' }
  expect(readSettings(env).limits).toEqual({ requestRate: 7, streams: 3 })
  expect(readSettings({ TRIHAND_REQUEST_RATE: 'off' }).limits.requestRate).toBeNull()
  expect(() => readSettings({ TRIHAND_REQUEST_RATE: '0', TRIHAND_STREAM_LIMIT: 'x' })).toThrow(
    'TRIHAND_REQUEST_RATE is "0"; expected 1 to 999999, or off; TRIHAND_STREAM_LIMIT is "x"; expected 1 to 999999',
  )
})

test('a proxy is trusted only if TRIHAND_TRUST_PROXY is set to loopback (13.3.4)', () => {
  expect(readSettings({ TRIHAND_TRUST_PROXY: 'loopback' }).trustsProxy).toBe(true)
  expect(() => readSettings({ TRIHAND_TRUST_PROXY: 'yes' })).toThrow('TRIHAND_TRUST_PROXY is "yes"; expected loopback')
})

test('all invalid variables are reported in one error', () => {
  const read = () => readSettings({ DATABASE_URL: 'mysql://x', PORT: '70000', TRIHAND_URL: 'ftp://x' })
  expect(read).toThrow(/CONFIG_INVALID: DATABASE_URL: .*; PORT is "70000"; .*; TRIHAND_URL is "ftp:\/\/x"/)
})

test('a worker is configured by the environment, and invalid values are reported', () => {
  const env = { TRIHAND_POOL: 'mail', TRIHAND_LABELS: 'region=eu', TRIHAND_SLOTS: '4', TRIHAND_DRAIN: '5s' }
  expect(readSettings(env).worker).toEqual({ pool: 'mail', labels: 'region=eu', slots: 4, drain: 5_000, port: null })
  const read = () => readSettings({ TRIHAND_LABELS: 'eu', TRIHAND_SLOTS: '0', TRIHAND_DRAIN: 'soon' })
  expect(read).toThrow(/TRIHAND_SLOTS is "0"; .*; TRIHAND_LABELS: "eu" is not a label.*; TRIHAND_DRAIN: /)
})

test.each([
  [
    { TRIHAND_DISPATCHER: 'restate', TRIHAND_DISPATCHER_URL: 'http://r:8080' },
    { kind: 'restate', ingress: 'http://r:8080' },
  ],
  [
    {
      TRIHAND_DISPATCHER: 'restate',
      TRIHAND_DISPATCHER_URL: 'http://r:8080',
      TRIHAND_DISPATCHER_ADMIN_URL: 'http://r:9070',
    },
    { kind: 'restate', ingress: 'http://r:8080', admin: 'http://r:9070' },
  ],
  [
    { TRIHAND_DISPATCHER: 'inngest', TRIHAND_DISPATCHER_KEY: 'signkey-x' },
    { kind: 'inngest', signingKey: 'signkey-x' },
  ],
])('the dispatcher is chosen by %j', (env, choice) => {
  expect(readSettings(env).dispatcher).toEqual(choice)
})

test.each([
  [{ TRIHAND_DISPATCHER: 'kafka' }, 'neither restate nor inngest'],
  [{ TRIHAND_DISPATCHER: 'restate' }, 'restate needs TRIHAND_DISPATCHER_URL'],
  [{ TRIHAND_DISPATCHER: 'restate', TRIHAND_DISPATCHER_URL: 'r:8080' }, 'is not an http:// or https:// address'],
  [{ TRIHAND_DISPATCHER: 'inngest' }, 'inngest needs TRIHAND_DISPATCHER_KEY'],
])('the incomplete dispatcher settings %j are refused', (env, problem) => {
  expect(() => readSettings(env)).toThrow(problem)
})

test.each([
  ['TRIHAND_TOKN', 'TRIHAND_TOKN is not a setting; did you mean TRIHAND_TOKEN?'],
  ['TRIHAND_PORT', 'TRIHAND_PORT is not a setting; did you mean PORT?'],
  ['TRIHAND_ENTIRELY_DIFFERENT', 'TRIHAND_ENTIRELY_DIFFERENT is not a setting'],
])('the unknown setting %s is refused, with the nearest name if there is one', (name, problem) => {
  expect(() => readSettings({ [name]: '1', TRIHAND_TOKEN: 'x' })).toThrow(problem)
})

test.each([
  ['4400', 4400],
  ['0', 0],
  ['65535', 65535],
  ['65536', null],
  ['-1', null],
  ['80.5', null],
  ['http', null],
  ['', null],
])('the port %j is parsed as %j', (text, port) => {
  expect(parsePort(text)).toBe(port)
})

test.each([
  ['http://127.0.0.1:4400', true],
  ['https://trihand.example/base', true],
  ['127.0.0.1:4400', false],
  ['http://', false],
  ['file:///etc/passwd', false],
])('%s is a valid server address: %s', (url, fits) => {
  expect(isServerUrl(url)).toBe(fits)
})
