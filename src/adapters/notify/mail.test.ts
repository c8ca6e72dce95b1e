/** Mail about tasks, to a real SMTP server on this machine. */
import type { AddressInfo, Server } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StoredEvent } from '#model/event/event.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { type MailSettings, mailNotifier } from './mail.ts'

let mails: { to: readonly string[]; text: string }[]
let refuses: string | null
let port: number
let close: () => Promise<void>

beforeEach(async () => {
  mails = []
  refuses = null
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: (_, __, done) => done(refuses === null ? undefined : new Error(refuses)),
    onData: async (stream, session, done) => {
      let text = ''
      for await (const chunk of stream) text += chunk
      mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text })
      done()
    },
  })
  const listening = await new Promise<Server>((started) => {
    const opened: Server = server.listen(0, '127.0.0.1', () => started(opened))
  })
  port = (listening.address() as AddressInfo).port
  close = () => new Promise((done) => server.close(done))
})
afterEach(() => close())

const event = (data: Json, over: Partial<StoredEvent> = {}): StoredEvent => ({
  id: 'task_1/0/human.assigned',
  tenant: LOCAL_TENANT,
  source: 'human:owner',
  type: 'human.assigned',
  subject: 'task_1',
  time: 0,
  data,
  correlationId: 'c1',
  causationId: null,
  traceparent: null,
  hops: 0,
  chain: [],
  sequence: 1,
  ...over,
})
const to = (...users: readonly string[]): Json => ({
  handler: 'owner',
  deadline: Date.UTC(2026, 2, 1, 9),
  assignees: { users, groups: ['finance'] },
})
const deliverNotice = (about: StoredEvent, over: Partial<MailSettings> = {}) =>
  mailNotifier({
    smtpUrl: `smtp://127.0.0.1:${port}`,
    from: 'trihand@example.org',
    publicUrl: 'https://trihand.example/',
    addresses: { ana: 'ana@example.org' },
    ...over,
  }).deliverNotice(about, new AbortController().signal)

describe('a mail', () => {
  test('[C15] goes to the assignees, names the deadline, and links to the page of the task', async () => {
    expect(await deliverNotice(event(to('ana', 'ben@example.org')))).toMatchObject({ kind: 'delivered' })
    expect(mails).toHaveLength(1)
    expect(mails[0]?.to).toEqual(['ana@example.org', 'ben@example.org'])
    expect(mails[0]?.text).toContain('Subject: A task for you')
    expect(mails[0]?.text).toContain('owner asks for a decision.')
    expect(mails[0]?.text).toContain('Until: 2026-03-01T09:00:00.000Z')
    expect(mails[0]?.text).toContain('https://trihand.example/inbox?task=task_1')
  })

  test('[C15] has one link, which opens a page: nothing in it decides', async () => {
    await deliverNotice(event(to('ana')))
    const links = mails[0]?.text.match(/https?:\/\/\S+/g)
    expect(links).toEqual(['https://trihand.example/inbox?task=task_1'])
    expect(mails[0]?.text).not.toMatch(/approve|reject|decision=|token/i)
  })

  test('notifier-2: has the same id at every try', async () => {
    await deliverNotice(event(to('ana')))
    await deliverNotice(event(to('ana')))
    const ids = mails.map(({ text }) => /^Message-ID: (.*)$/im.exec(text)?.[1])
    expect(ids[0]).toBe('<task_1-0-human.assigned@trihand>')
    expect(ids[1]).toBe(ids[0])
  })

  test('goes to a group that has an address', async () => {
    await deliverNotice(event(to()), {
      addresses: { 'group:finance': 'finance@example.org', finance: 'nobody@example.org' },
    })
    expect(mails.map((mail) => mail.to)).toEqual([['finance@example.org']])
  })

  test('without a public URL asks to open the inbox', async () => {
    await deliverNotice(event(to('ana')), { publicUrl: null })
    expect(mails[0]?.text).toContain('Open your inbox.')
  })

  test.each(['ben', 'a@b\nBcc: evil@example.org', 'a@b, c@d', 'constructor', ''])('%j is no address', async (user) => {
    expect(await deliverNotice(event(to(user)))).toMatchObject({ kind: 'unwanted' })
    expect(mails).toEqual([])
  })
})

describe('notifier-1: a failure is returned, not thrown', () => {
  test('when the server refuses', async () => {
    refuses = 'mailbox full'
    expect(await deliverNotice(event(to('ana')))).toMatchObject({
      kind: 'failed',
      detail: expect.stringContaining('mailbox full'),
    })
  })

  test('when there is no server', async () => {
    expect(await deliverNotice(event(to('ana')), { smtpUrl: 'smtp://127.0.0.1:1' })).toMatchObject({ kind: 'failed' })
  })

  test.each<Json>([null, [], 'x', {}, { assignees: { users: 'ana' } }, { assignees: { users: [1] } }])(
    'the data %j names no recipients',
    async (data) => {
      expect(await deliverNotice(event(data))).toMatchObject({ kind: 'unwanted' })
    },
  )
})
