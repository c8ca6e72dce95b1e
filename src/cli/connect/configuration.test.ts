/** The source of each setting, and which values are hidden. */
import { expect, test } from 'vitest'
import { configurationOf, type Said } from './configuration.ts'

const found = (name: string, said: Partial<Said> = {}) =>
  configurationOf({ env: {}, fromFile: new Set(), flags: {}, ...said }).find((setting) => setting.name === name)

test('a setting that is not set shows its default', () =>
  expect(found('HOST')).toMatchObject({ value: '127.0.0.1', source: 'default' }))

test('a flag takes precedence over the environment, and values from .env are shown as such', () => {
  const env = { PORT: '4500', HOST: '0.0.0.0' }
  const fromFile = new Set(['HOST'])
  expect(found('PORT', { env, fromFile, flags: { PORT: '1' } })).toMatchObject({ value: '1', source: 'flag' })
  expect(found('PORT', { env, fromFile })).toMatchObject({ value: '4500', source: 'environment' })
  expect(found('HOST', { env, fromFile })).toMatchObject({ value: '0.0.0.0', source: '.env' })
})

test('a secret is only shown as set', () => {
  const env = { ANTHROPIC_API_KEY: 'sk-very-secret', SMTP_URL: 'smtp://me:word@mail' }
  expect(found('ANTHROPIC_API_KEY', { env })).toMatchObject({ value: null, source: 'environment', is_secret: true })
  expect(JSON.stringify(configurationOf({ env, fromFile: new Set(), flags: {} }))).not.toMatch(/secret"?:"|sk-|word/)
})

test('neither the password nor the parameters of a database address are shown', () =>
  expect(found('DATABASE_URL', { env: { DATABASE_URL: 'postgres://ana:word@db:5432/x?password=word' } })).toMatchObject(
    {
      value: 'postgres://db:5432/x',
    },
  ))
