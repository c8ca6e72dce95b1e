/** Which setting came from where, and which of them nobody is shown. */
import { expect, test } from 'vitest'
import { configurationOf, type Said } from './configuration.ts'

const found = (name: string, said: Partial<Said> = {}) =>
  configurationOf({ env: {}, fromFile: new Set(), flags: {}, ...said }).find((setting) => setting.name === name)

test('what nobody has set shows what is usual', () =>
  expect(found('HOST')).toMatchObject({ value: '127.0.0.1', source: 'default' }))

test('a flag wins over the environment, and the file is told from it', () => {
  const env = { PORT: '4500', HOST: '0.0.0.0' }
  const fromFile = new Set(['HOST'])
  expect(found('PORT', { env, fromFile, flags: { PORT: '1' } })).toMatchObject({ value: '1', source: 'flag' })
  expect(found('PORT', { env, fromFile })).toMatchObject({ value: '4500', source: 'environment' })
  expect(found('HOST', { env, fromFile })).toMatchObject({ value: '0.0.0.0', source: '.env' })
})

test('a secret is only said to be set', () => {
  const env = { ANTHROPIC_API_KEY: 'sk-very-secret', SMTP_URL: 'smtp://me:word@mail' }
  expect(found('ANTHROPIC_API_KEY', { env })).toMatchObject({ value: null, source: 'environment', is_secret: true })
  expect(JSON.stringify(configurationOf({ env, fromFile: new Set(), flags: {} }))).not.toMatch(/secret"?:"|sk-|word/)
})

test('the password of a ledger is not shown, nor what follows its address', () =>
  expect(found('DATABASE_URL', { env: { DATABASE_URL: 'postgres://ana:word@db:5432/x?password=word' } })).toMatchObject(
    {
      value: 'postgres://db:5432/x',
    },
  ))
