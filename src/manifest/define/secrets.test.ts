/** Which values of the environment count as secrets: by name, by use, in an address. */
import { describe, expect, test } from 'vitest'
import { normalise } from './define.ts'
import { isSecretName, secretsOf } from './secrets.ts'

describe('which values are secrets', () => {
  test.each(['STRIPE_API_KEY', 'DB_PASSWORD', 'apiKey', 'x-auth-token', 'secrets', 'Authorization', 'SENTRY_DSN'])(
    'the name %s marks a secret',
    (name) => expect(isSecretName(name)).toBe(true),
  )
  test.each(['PUBLIC_URL', 'KEYBOARD', 'tokens_used', 'REGION', 'PASSAGE'])(
    'the name %s does not mark a secret',
    (name) => expect(isSecretName(name)).toBe(false),
  )

  test('a value that a definition uses as a secret is one, whatever its name', () => {
    const source = {
      name: 'shop',
      events: { paid: null },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to the environment is written so
      endpoints: [{ name: 'books', url: 'https://${BOOKS}/in', events: ['paid'], secret: '${SHARED_WITH_BOOKS}' }],
    }
    const system = normalise(source, (text) => text)
    const environment = { BOOKS: 'books.example', SHARED_WITH_BOOKS: 'a-value-of-ours', OTHER: 'not a secret' }
    expect(secretsOf(environment, system)).toEqual([{ name: 'SHARED_WITH_BOOKS', value: 'a-value-of-ours' }])
  })

  test('in an address the password is the secret, both as written and decoded', () => {
    expect(
      secretsOf({ BOOKS_URL: 'postgres://ana:p%40ssword@db.example/x', HOME_URL: 'https://a.example' }, null),
    ).toEqual([
      { name: 'BOOKS_URL', value: 'p%40ssword' },
      { name: 'BOOKS_URL', value: 'p@ssword' },
    ])
  })
})
