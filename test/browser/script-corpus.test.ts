/** Hostile data in every field that the page shows: it stays text, and the content security policy is never violated. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CORPUS, openPoisoned, type Poisoned } from '#test/support/agents/script-corpus.ts'
import { hasLoaded, startBrowser, type TestBrowser, visit } from '#test/support/serving/browser.ts'
import { Folder, type Server } from '#test/support/serving/command.ts'
import { until } from '#test/support/until.ts'

const SYSTEM = `import { defineSystem, fn, human } from 'trihand'

export const system = defineSystem({
  name: 'poison',
  events: { 'poison.sent': null },
  humans: [human('taste', { trigger: 'poison.sent', title: '{{ payload.text }}', description: '{{ payload.text }}', assign: 'group:tasters',
    bundle: { sections: [{ id: 'dish', type: 'editable', content: { text: '{{ payload.text }}' } }] } })],
  functions: [
    fn('swallow', { trigger: 'poison.sent' }, async ({ input, step }) => step.run('keep ' + input.text.slice(0, 40), () => input)),
    fn('choke', { trigger: 'poison.sent', retry: { maxAttempts: 1 } }, async ({ input }) => { throw new Error(input.text) }),
  ],
})
`

let browser: TestBrowser
let folder: Folder
let server: Server
/** The person who visits one screen after the other. */
let visitor: Poisoned

beforeAll(async () => {
  folder = new Folder({ 'system.ts': SYSTEM })
  const serving = folder.serve(['dev'], { env: { PORT: '0' } })
  ;[browser, server] = await Promise.all([startBrowser(), serving])
  visitor = await openPoisoned(browser, server.url)
  for (const [i, text] of CORPUS.entries()) await send({ id: `p${i}`, source: text, subject: text, data: { text } })
})
afterAll(async () => {
  await browser.close()
  await folder.remove()
})

const post = async (path: string, body: object): Promise<{ readonly id: string }> => {
  const headers = { 'content-type': 'application/json', 'x-trihand-user': 'ana' }
  const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as { readonly id: string }
}

const send = (event: object) => post('/api/events', { type: 'poison.sent', ...event })

interface Item {
  readonly id: string
  readonly title?: string
}

const items = async (path: string): Promise<readonly Item[]> => {
  const page = (await (await fetch(`${server.url}${path}`)).json()) as { readonly items: readonly Item[] }
  return page.items
}

test.each([
  '/inbox?view=open',
  '/inbox?view=done',
  '/runs',
  '/runs?status=failed',
  '/events',
  '/graph',
  '/graph?view=list',
  '/workers',
])('[S8] %s shows hostile data as text', async (path) => {
  const { watched, expectHarmless } = visitor
  await visit(watched.page, `${server.url}${path}`)
  await hasLoaded(watched.page)
  await expectHarmless()
})

test('[S8] every task, its content, its editor, and every failed run show hostile data as text', async () => {
  const tasks = await until(
    () => items('/api/tasks?all=true&limit=100'),
    (found) => found.length === CORPUS.length,
    { what: 'every task is there' },
  )
  const failed = await until(
    () => items('/api/runs?status=failed&handler=choke&limit=100'),
    (found) => found.length === CORPUS.length,
    { what: 'every failed run is there' },
  )
  const { watched, expectHarmless } = await openPoisoned(browser, server.url)
  const { page } = watched
  await page.addInitScript(`localStorage.setItem('trihand-me', '{"name":"ana","groups":"tasters"}')`)
  await page.goto(`${server.url}/inbox?view=open`)
  // As a click on a link does, without reloading the page.
  const go = (path: string) => page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`)
  for (const { id, title = '' } of tasks) {
    await go(`/inbox?view=open&task=${id}`)
    await page.locator(`h2[data-id=${id}]`).waitFor()
    await page.getByRole('tab', { name: 'Edit', exact: true }).click()
    await page.getByRole('textbox', { name: 'text', exact: true }).waitFor()
    expect(await page.locator('h2').first().textContent()).toBe(title)
    await expectHarmless()
  }
  for (const { id } of failed) {
    await go(`/runs/${id}`)
    await page.locator(`[data-id=${id}]`).waitFor()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('choke')
    await expectHarmless()
  }
  await watched.close()
})

test('[S8] plans, saved filters, and the facts and the error of a run show hostile data as text', async () => {
  const { watched, expectHarmless } = await openPoisoned(browser, server.url)
  const { page } = watched
  await page.addInitScript(`localStorage.setItem('trihand-me', '{"name":"ana","groups":""}')`)
  // A name has at most 80 characters, and no bidirectional control characters.
  const names = CORPUS.filter((text) => text.length <= 80 && !text.includes('\u202e'))
  for (const text of names) await post('/api/filters', { name: text, screen: 'runs', terms: { handler: text } })
  const plans = await Promise.all(
    CORPUS.map((text) => post('/api/plans', { goal: text, text: `a. Swallow: "${text.replaceAll('"', "'")}"` })),
  )
  for (const { id } of plans) {
    await visit(page, `${server.url}/plans/${id}`)
    await hasLoaded(page)
    await expectHarmless()
  }
  const failed = await items('/api/runs?status=failed&handler=choke&limit=100')
  for (const { id } of failed.slice(0, CORPUS.length))
    for (const tab of ['facts', 'error', 'input']) {
      await visit(page, `${server.url}/runs/${id}?tab=${tab}`)
      await hasLoaded(page)
      await expectHarmless()
    }
  await visit(page, `${server.url}/runs?handler=${encodeURIComponent(names[0] ?? '')}`)
  await page.getByRole('button', { name: 'Saved filters', exact: true }).click()
  await page
    .getByRole('button')
    .filter({ hasText: names.at(-1) ?? '' })
    .waitFor()
  await expectHarmless()
  await watched.close()
})

test('the policy of a page allows only its own scripts', async () => {
  const policy = (await fetch(`${server.url}/inbox`)).headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toMatch(/script-src 'self'(;|$)/)
  expect(policy).toContain("base-uri 'none'")
})
