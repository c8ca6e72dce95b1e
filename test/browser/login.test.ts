/** The login page in a real browser: logging in, the person shown, what a role hides, a login that ends in between, logging out. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { authSettings } from '#http/access/auth-settings.ts'
import { createApp } from '#http/server/app.ts'
import { type Listening, listen } from '#http/server/server.ts'
import { readWebApp } from '#http/web-app.ts'
import { human } from '#manifest/human/humans.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { PROJECT } from '#test/support/places.ts'
import { axeFindings, startBrowser, type TestBrowser, type WatchedPage } from '#test/support/serving/browser.ts'
import { until } from '#test/support/until.ts'

let browser: TestBrowser
let trihand: Trihand
let server: Listening
const ending = new AbortController()

const review = human('review', { trigger: 'letter.ready', title: 'Letter', assign: 'group:editors' })

beforeAll(async () => {
  ;[browser, trihand] = await Promise.all([
    startBrowser(),
    createTrihand({
      system: { name: 'letters', events: { 'letter.ready': null }, humans: [review] },
      database: 'memory:',
      drain: 100,
    }),
  ])
  // The settings include its own address.
  let app: ReturnType<typeof createApp>
  server = await listen({ fetch: (request) => app.fetch(request), port: 0 })
  app = createApp(trihand, {
    ...{ version: '0', pid: 1, report: () => {}, ending: ending.signal },
    auth: authSettings({ host: '127.0.0.1', publicUrl: server.url }, 'k'.repeat(32)),
    webApp: readWebApp(join(PROJECT, 'dist/ui')),
  })
})
afterAll(async () => {
  await browser.close()
  ending.abort()
  await server.stop()
  await trihand.close()
})

const tokenFor = (name: string, ...roles: readonly string[]) =>
  trihand.tokens.create({ tenant: LOCAL_TENANT, name, kind: 'user', roles, groups: ['editors'] }, 'test')

const letter = (): Promise<unknown> => trihand.send({ type: 'letter.ready', data: {} })

const logIn = async (page: Page, token: string): Promise<void> => {
  await page.getByLabel('Your token', { exact: true }).fill(token)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
}

/** Without a login, every address leads to the login page and from there back to itself. */
const openedAs = async (path: string, token: string): Promise<WatchedPage> => {
  const watched = await browser.open()
  await watched.page.goto(`${server.url}${path}`)
  await logIn(watched.page, token)
  await watched.page.waitForURL(`${server.url}${path}`)
  return watched
}

test('axe finds no fault in the login, which says when a token is not valid', async () => {
  const { page, faults, close } = await browser.open()
  await page.goto(`${server.url}/runs`)
  await page.getByRole('heading', { name: 'Log in', exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(faults).toEqual([])
  await logIn(page, 'th_wrong')
  await page
    .getByRole('alert')
    .getByText(/unknown/)
    .waitFor()
  expect(await axeFindings(page)).toEqual([])
  await close()
})

test('a viewer is led back to the requested page, sees their own name, and sees nothing to decide or to send', async () => {
  await letter()
  const { token } = await tokenFor('vera', 'viewer')
  const { page, faults, close } = await openedAs('/inbox?view=open', token)
  await page.getByRole('button', { name: 'vera', exact: true }).click()
  const login = page.getByRole('table', { name: 'Your login', exact: true })
  await login.getByRole('row', { name: 'Roles viewer', exact: true }).waitFor()
  await login.getByRole('row', { name: 'Tenant local', exact: true }).waitFor()
  await login.getByRole('row', { name: 'Kind user', exact: true }).waitFor()
  expect(await axeFindings(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('list', { name: 'Tasks', exact: true }).getByRole('link').first().click()
  await page.getByText("Your role can't decide tasks.", { exact: true }).waitFor()
  expect(await page.getByRole('button', { name: /approve|reject/i }).count()).toBe(0)
  await page.getByRole('link', { name: 'Events', exact: true }).click()
  await page.getByRole('button', { name: 'letter.ready', exact: true }).first().waitFor()
  expect(await page.getByRole('combobox', { name: 'Event type', exact: true }).count()).toBe(0)
  expect(faults).toEqual([])
  await close()
})

test('a viewer who requests a decision from within the page is refused', async () => {
  await letter()
  const { token } = await tokenFor('victor', 'viewer')
  const { page, close } = await openedAs('/inbox?view=open', token)
  const status = await page.evaluate(async () => {
    const { items } = (await (await fetch('/api/tasks?all=true')).json()) as { items: { id: string }[] }
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ action: 'approve', shown_hash: 'x' })
    return (await fetch(`/api/tasks/${items[0]?.id}/decision`, { method: 'POST', headers, body })).status
  })
  expect(status).toBe(403)
  await close()
})

test('a decider decides under the name of the login, and is not asked for a name', async () => {
  await letter()
  const { token } = await tokenFor('dora', 'decider')
  const { page, faults, close } = await openedAs('/inbox?view=open', token)
  await page.getByRole('list', { name: 'Tasks', exact: true }).getByRole('link').first().click()
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: /^Approve: / })
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  const done = { tenant: LOCAL_TENANT, isOpen: false, addresses: null, viewer: null, status: null, type: null } as const
  const query = { ...done, claimedBy: null, run: null, order: 'newest', after: null, limit: 9 } as const
  await until(
    () => trihand.reader.tasks(query),
    (tasks) => tasks.some(({ summary }) => JSON.stringify(summary).includes('"dora"')),
    { what: 'the decision is of dora', timeoutMs: 40_000 },
  )
  expect(faults).toEqual([])
  await close()
})

test('a login that ends on a live page leads to the login page, and back to where the person was', async () => {
  const { record, token } = await tokenFor('mia', 'viewer')
  const { page, close } = await openedAs('/events?type=letter.ready', token)
  await page.getByText('Live', { exact: true }).waitFor()
  await trihand.tokens.revoke(record.id, LOCAL_TENANT)
  // The page is notified, asks again, and is refused.
  await letter()
  await page.getByRole('heading', { name: 'Log in', exact: true }).waitFor()
  await logIn(page, (await tokenFor('mia', 'viewer')).token)
  await page.waitForURL(`${server.url}/events?type=letter.ready`)
  await page.getByRole('heading', { level: 1, name: 'Events', exact: true }).waitFor()
  await close()
})

test('logging out applies to every tab', async () => {
  const { token } = await tokenFor('otto', 'viewer')
  const { page, tab, close } = await openedAs('/runs', token)
  const other = await tab()
  await other.goto(`${server.url}/schedules`)
  await other.getByRole('heading', { level: 1, name: 'Schedules', exact: true }).waitFor()
  await page.getByRole('button', { name: 'otto', exact: true }).click()
  await page.getByRole('button', { name: 'Log out', exact: true }).click()
  await page.getByRole('heading', { name: 'Log in', exact: true }).waitFor()
  // It takes over the connection that the other tab had, and is refused.
  await other.getByRole('heading', { name: 'Log in', exact: true }).waitFor()
  await close()
})
