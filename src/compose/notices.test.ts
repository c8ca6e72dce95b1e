/** Which functions the settings for notifications add to a system, and which settings are refused at start. */
import { describe, expect, test } from 'vitest'
import { SystemIds } from '#adapters/system/ids.ts'
import { normalise, type SystemSource } from '#manifest/define/define.ts'
import type { Environment } from '#manifest/expressions/reference.ts'
import { type NoticesOptions, withNotices } from './notices.ts'

const ids = new SystemIds()
const SYSTEM = { name: 'shop', events: { paid: null } }
const SECRET = `whsec_${Buffer.from('a secret of 24 bytes....').toString('base64')}`

const open = async (options: NoticesOptions, environment: Environment = {}, system: SystemSource = SYSTEM) => {
  const source = await withNotices(system, options, {
    environment,
    ids,
    clock: { now: () => 0 },
    document: async () => null,
  })
  const { functions } = normalise(source, (text) => ids.digest(text))
  return { source, names: [...functions.keys()].filter((name) => name.startsWith('notify-')) }
}
const refusal = (options: NoticesOptions, environment: Environment = {}): Promise<string> =>
  open(options, environment).then(
    () => 'nothing was refused',
    (error: Error) => error.message,
  )

describe('added functions', () => {
  test('nothing is added without settings', async () => {
    expect((await open({})).source).toBe(SYSTEM)
  })

  test('one function per endpoint, named by its address whatever the order', async () => {
    const webhooks = ['https://a.example/in', 'https://b.example/in'].map((url) => ({ url, events: ['paid'] }))
    const { names } = await open({ webhooks })
    expect(names).toHaveLength(2)
    expect((await open({ webhooks: [...webhooks].reverse() })).names).toEqual([...names].reverse())
  })

  test('one function per endpoint that the system declares, named after it', async () => {
    const endpoints = [{ name: 'books', url: 'https://a.example/in', events: ['paid', 'human.decided'] }]
    const { names, source } = await open({}, {}, { ...SYSTEM, endpoints })
    expect(names).toEqual(['notify-webhook-books'])
    expect(source.functions?.[0]?.options.triggers).toEqual(['paid', 'human.decided'])
  })

  test('mail and chat are added when the environment configures them', async () => {
    const environment = {
      SMTP_URL: 'smtp://mail.example',
      TRIHAND_MAIL_FROM: 'trihand@example.org',
      TRIHAND_SLACK_WEBHOOK: 'https://chat.example/hook',
    }
    expect((await open({}, environment)).names).toEqual(['notify-mail', 'notify-chat'])
  })

  test('the callback function is added once there is a secret to sign with', async () => {
    expect((await open({ callbackSecret: SECRET })).names).toEqual(['notify-callback'])
    expect((await open({}, { TRIHAND_CALLBACK_SECRET: SECRET })).names).toEqual(['notify-callback'])
    expect(await refusal({ callbackSecret: 'no base64!' })).toContain('base64')
  })
})

describe('refused settings', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference, as definitions write it
  const secret = '${HOOK_SECRET}'
  const endpoint = { url: 'https://a.example/in', events: ['paid'], secret }

  test('a secret whose variable is not set', async () => {
    expect(await refusal({ webhooks: [endpoint] })).toMatch(/^ENV_MISSING/)
    expect(await refusal({ webhooks: [endpoint] }, { HOOK_SECRET: `${SECRET} ${SECRET}` })).toBe('nothing was refused')
  })

  test('a malformed secret', async () => {
    expect(await refusal({ webhooks: [endpoint] }, { HOOK_SECRET: '%%%' })).toMatch(/^CONFIG_INVALID/)
  })

  test('a malformed address', async () => {
    expect(await refusal({ webhooks: [{ url: 'here', events: ['paid'] }] })).toMatch(/^CONFIG_INVALID: notices: here/)
  })

  test('mail without a sender', async () => {
    expect(await refusal({}, { SMTP_URL: 'smtp://mail.example' })).toMatch(/^CONFIG_INVALID: .*TRIHAND_MAIL_FROM/)
  })
})
