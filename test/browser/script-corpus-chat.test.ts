/** Hostile data in everything that is said in chats, done, approved, refused and remembered: it stays text. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTrihand } from '#compose/assemble.ts'
import { CORPUS, DOSES, openPoisoned, type Poisoned } from '#test/support/agents/script-corpus.ts'
import { hasLoaded, startBrowser, type TestBrowser, visit } from '#test/support/serving/browser.ts'
import { Folder, type Server } from '#test/support/serving/command.ts'
import { until } from '#test/support/until.ts'

const MANIFEST = `
product: { name: poison, version: "1.0" }
agents:
  - name: assistant
    limits: { max_tokens: 200000 }
functions:
  - { name: swallow, allowed_operations: [transform] }
  - { name: choke, allowed_operations: [transform] }
  - { name: spit }
chats:
  - name: desk
    description: ${JSON.stringify(CORPUS.join(' '))}
    agent: assistant
    executors: [swallow, choke, spit]
`

/** The person's message determines the answer: the kind, and which text. */
const answers = DOSES.flatMap((text, i) => [
  { last: [`reply ${i}.`], json: { action: 'reply', reply: text } },
  ...['swallow', 'choke', 'spit'].map((name) => ({
    last: [`${name} ${i}.`],
    json: { action: 'execute', reply: text, executor_type: name, task: { text, [text]: text } },
  })),
])

const FILES = {
  'manifest.yaml': MANIFEST,
  'agents/assistant/CLAUDE.md': 'You say what you are told to.',
  // JSON is YAML.
  'scripts/assistant.yaml': JSON.stringify({ agent: 'assistant', answers }),
  'functions/swallow.ts': `import { fn } from 'trihand'\nexport default fn('swallow', {}, ({ input }) => ({ given: input }))\n`,
  'functions/choke.ts': `import { fn } from 'trihand'\nexport default fn('choke', { retry: { maxAttempts: 1 } }, ({ input }) => { throw new Error(input.text) })\n`,
  'functions/spit.ts': `import { fn } from 'trihand'\nexport default fn('spit', {}, ({ input }) => ({ content: input.text, format: 'text' }))\n`,
}
const ANA = { 'content-type': 'application/json', 'x-trihand-user': 'ana', 'x-trihand-groups': 'operators' }

let browser: TestBrowser
let folder: Folder
let server: Server
let session: string
/** The person who visits one screen after the other. */
let visitor: Poisoned

/** What a session remembers, with names and values from outside. */
const remember = async (database: string): Promise<string> => {
  const app = await createTrihand({ system: { name: 'poison' }, database, work: false })
  const id = await app.sessions.create()
  for (const text of CORPUS) await app.sessions.remember(id, text, { [text]: text })
  await app.sessions.remember(id, 'words', CORPUS.join(' '))
  await app.sessions.checkpoint(id)
  await app.close()
  return id
}

beforeAll(async () => {
  folder = new Folder(FILES)
  const data = join(folder.path, '.trihand')
  mkdirSync(data)
  const database = join(data, 'trihand.db')
  session = await remember(database)
  const env = {
    PORT: '0',
    TRIHAND_DATA: data,
    DATABASE_URL: database,
    TRIHAND_MODELS: 'simulated',
  }
  ;[browser, server] = await Promise.all([startBrowser(), folder.serve(['dev'], { env })])
  visitor = await openPoisoned(browser, server.url)
})
afterAll(async () => {
  await browser.close()
  await folder.remove()
})

const post = async (path: string, body: object): Promise<string> => {
  const response = await fetch(`${server.url}${path}`, { method: 'POST', headers: ANA, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any document without ceremony
const get = async (path: string): Promise<any> => (await fetch(`${server.url}${path}`, { headers: ANA })).json()

/** Sends one message, and waits for the end of its turn or until it waits for a person. */
const say = async (id: string, text: string, n: number): Promise<void> => {
  const message = { id: `${id}-${n}`, role: 'user', parts: [{ type: 'text', text }] }
  await post('/api/chat', { id, messages: [message], trigger: 'submit-message' })
}

/** Every text in one conversation: as the person's message, and in the result. */
const talk = async (kind: string): Promise<void> => {
  for (const [i, text] of DOSES.entries()) await say(kind, `${text} ${kind} ${i}.`, i)
}

test.each(['reply', 'swallow', 'choke'])(
  '[S8] hostile data in a chat is shown as text in messages and cards: %s',
  async (kind) => {
    await talk(kind)
    const { watched, expectHarmless } = await openPoisoned(browser, server.url)
    const { page } = watched
    await page.goto(`${server.url}/chat?id=${kind}`)
    await page
      .locator('.message')
      .nth(2 * DOSES.length - 1)
      .waitFor()
    if (kind === 'swallow' || kind === 'choke') expect(await page.locator('.done').count()).toBe(DOSES.length)
    await expectHarmless()
    // A link written by others leads only to another web page.
    const links = await page
      .locator('.message a')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''))
    expect(links.filter((href) => /^\s*(javascript|data|vbscript):/i.test(href))).toEqual([])
    expect(await page.locator('.message img, .message iframe, .message script, .message style').count()).toBe(0)
    await watched.close()
  },
)

test('[S8] hostile data that waits for a person, is refused with a reason, or is in the task itself is shown as text', async () => {
  const { watched, expectHarmless } = await openPoisoned(browser, server.url)
  const { page } = watched
  await page.addInitScript(`localStorage.setItem('trihand-me', '{"name":"ana","groups":"operators"}')`)
  for (const [i, text] of DOSES.entries()) {
    const id = `spit-${i}`
    await say(id, `${text} spit ${i}.`, i)
    await page.goto(`${server.url}/chat?id=${id}`)
    await page.getByRole('link', { name: 'Open the task', exact: true }).click()
    await page.locator('.actions').getByRole('button', { name: 'Reject', exact: true }).waitFor()
    await expectHarmless()
    const task = new URL(page.url()).searchParams.get('task') ?? ''
    const { shown_hash } = await get(`/api/tasks/${task}`)
    await post(`/api/tasks/${task}/decision`, { action: 'reject', shown_hash, items: {}, reason: text })
    await until(
      () => get(`/api/chat/${id}`),
      ({ running }) => running === null,
      { what: 'the turn has ended' },
    )
    await page.goto(`${server.url}/chat?id=${id}`)
    await page.locator('.done [data-tone]').filter({ hasText: 'cancelled' }).waitFor()
    await expectHarmless()
  }
  await watched.close()
})

test.each(['/chat', '/costs', '/sessions', '/settings', '/schedules'])(
  '[S8] %s shows hostile data as text',
  async (path) => {
    const { watched, expectHarmless } = visitor
    await visit(watched.page, `${server.url}${path}`)
    await hasLoaded(watched.page)
    await expectHarmless()
  },
)

test('[S8] hostile data in the memory of a session is shown as text', async () => {
  const { watched, expectHarmless } = await openPoisoned(browser, server.url)
  const { page } = watched
  await page.goto(`${server.url}/sessions/${session}`)
  await page.getByRole('cell', { name: CORPUS[0], exact: true }).first().waitFor()
  await expectHarmless()
  await watched.close()
})
