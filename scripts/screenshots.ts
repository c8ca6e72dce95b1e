/**
 * Takes screenshots of every screen, light and dark, for the documents: the example campaign in a temporary folder, driven to states worth
 * showing.
 *
 * `node .build/scripts/screenshots.js [--width 390] [--out folder] [screen …]` writes docs/screenshots/<screen>-<scheme>.png. Owns the
 * story; uses the browser and the server of the tests.
 */
import { appendFileSync, cpSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { createTrihand } from '#compose/assemble.ts'
import { freePort } from '../test/support/free-port.ts'
import { PROJECT } from '../test/support/places.ts'
import { hasLoaded, startBrowser } from '../test/support/serving/browser.ts'
import { Folder } from '../test/support/serving/command.ts'
import { until } from '../test/support/until.ts'

const { values: given, positionals: wanted } = parseArgs({
  options: { width: { type: 'string', default: '1280' }, out: { type: 'string' } },
  allowPositionals: true,
})
const OUT = given.out ?? join(PROJECT, 'docs/screenshots')
const MAX_BYTES = 150_000
const ME = JSON.stringify({ name: 'ana', groups: 'sales' })

interface World {
  readonly url: string
  ask<Body>(path: string): Promise<Body>
}

interface Screen {
  readonly name: string
  readonly path: (world: World) => string | Promise<string>
  /** Actions before the screenshot. */
  readonly pose?: (page: Page) => Promise<void>
}

interface Listed {
  readonly items: readonly { readonly id: string; readonly handler: string; readonly title: string }[]
}

const runOf =
  (handler: string) =>
  async ({ ask }: World): Promise<string> => {
    const { items } = await ask<Listed>(`/api/runs?handler=${handler}&limit=1`)
    return `/runs/${items[0]?.id ?? ''}`
  }

const bundle = async ({ ask }: World): Promise<string> => {
  const { items } = await ask<Listed>('/api/tasks?all=true&limit=50')
  return `/inbox?view=open&task=${items.find(({ title }) => title.startsWith('Campaign'))?.id ?? ''}`
}

const review = async (page: Page): Promise<void> => {
  await page.getByText('/9 reviewed').waitFor()
  for (const key of ['a', 'n', 'r', 'n', 'e']) await page.keyboard.press(key)
  await page.getByRole('textbox', { name: 'subject' }).fill('A page that fits you')
  await page.getByRole('tab', { name: 'Diff' }).click()
  await page.getByText('Draft saved').waitFor()
}

const lastSession = async ({ ask }: World): Promise<string> => {
  const { items } = await ask<Listed>('/api/sessions')
  return `/sessions/${items.at(-1)?.id ?? ''}`
}

const PLAN = `a. Import leads
b. Persona matcher (requires step a)
c. Review campaign (requires step b)
d. Send campaign (requires step c)`

const drafted = async ({ url }: World): Promise<string> => {
  const body = JSON.stringify({ goal: 'Write to every lead, after a look at the mails', text: PLAN })
  const made = await fetch(`${url}/api/plans`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const { id } = (await made.json()) as { readonly id: string }
  return `/plans/${id}`
}

/** Two runs are selected, and a bulk job that failed for two others is shown above them. */
const chooseRuns = async (page: Page): Promise<void> => {
  for (const key of ['j', 'x', 'j', 'j', 'x']) await page.keyboard.press(key)
  await page.getByRole('button', { name: 'Retry' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Retry 2 runs' }).click()
  await page.getByText('2 failed, 2 in all').waitFor()
  for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key)
  await page.getByText('2 selected').waitFor()
}

/** The diagram loads separately and fits itself into its place. */
const drawn = async (page: Page): Promise<void> => {
  await page.locator('.react-flow__edge').first().waitFor({ state: 'attached' })
  await page.locator('.react-flow__node').last().waitFor()
}

const talk = async (page: Page): Promise<void> => {
  const field = page.getByLabel('Your message')
  await field.fill('What do you do?')
  await field.press('Enter')
  await page.getByText('draft nine mails').waitFor()
  await page.getByRole('status').filter({ hasText: 'An answer' }).waitFor({ state: 'detached' })
  await field.fill('Start the campaign')
  await field.press('Enter')
  await page.getByRole('link', { name: 'Open the task' }).waitFor()
}

const openPrompt = async (page: Page): Promise<void> => {
  await page
    .getByRole('treeitem', { name: /^agent\/model/ })
    .last()
    .click()
  await page.getByRole('tab', { name: 'Prompt and tools' }).click()
}

/** A separate run, so that its history has a tick. */
const slotsShown = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Run weekly-campaign now' }).click()
  await page.getByRole('list', { name: 'Recent runs' }).waitFor()
}

const openKeys = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Shortcuts' }).click()
  await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor()
}

const openPalette = async (page: Page): Promise<void> => {
  await page.keyboard.press('ControlOrMeta+k')
  await page.getByPlaceholder('Screen, handler or id').fill('re')
}

const openRerun = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Rerun' }).click()
  const from = page.getByLabel('From')
  await from.locator('option').nth(1).waitFor({ state: 'attached' })
  await from.selectOption({ index: 1 })
  await page.getByText('happens again').first().waitFor()
}

const SCREENS: readonly Screen[] = [
  { name: 'inbox', path: () => '/inbox?view=open' },
  { name: 'bundle', path: bundle, pose: review },
  { name: 'runs', path: () => '/runs' },
  { name: 'runs-chosen', path: () => '/runs?status=success', pose: chooseRuns },
  { name: 'run-function', path: runOf('send-campaign') },
  { name: 'rerun', path: runOf('send-campaign'), pose: openRerun },
  { name: 'run-agent', path: runOf('persona-matcher') },
  { name: 'run-human', path: runOf('review-campaign') },
  { name: 'run-step', path: runOf('persona-matcher'), pose: openPrompt },
  { name: 'run-table', path: async (world) => `${await runOf('send-campaign')(world)}?view=table` },
  { name: 'graph', path: () => '/graph', pose: drawn },
  { name: 'graph-focus', path: () => '/graph?node=human%3Areview-campaign', pose: drawn },
  { name: 'sessions', path: () => '/sessions' },
  { name: 'session', path: lastSession },
  { name: 'chat', path: () => '/chat', pose: talk },
  { name: 'plan', path: drafted },
  { name: 'costs', path: () => '/costs?days=7' },
  { name: 'events', path: () => '/events' },
  { name: 'schedules', path: () => '/schedules' },
  { name: 'schedule', path: () => '/schedules?name=weekly-campaign', pose: slotsShown },
  { name: 'workers', path: () => '/workers' },
  { name: 'settings', path: () => '/settings' },
  { name: 'keys', path: () => '/runs', pose: openKeys },
  { name: 'palette', path: () => '/costs', pose: openPalette },
]

const SCHEDULES = `
schedules:
  - { name: weekly-campaign, cron: "0 8 * * 1", tz: Europe/Berlin, emit: campaign.requested, input: { campaign_id: weekly } }
  - { name: quarter-end, cron: "30 17 L 3,6,9,12 *", tz: America/New_York, emit: campaign.requested, input: { campaign_id: quarter } }
  - { name: follow-up, every: 6h, emit: campaign.requested, input: { campaign_id: follow-up } }
`

const MORE_LEADS = `lead-2,Grace,Contoso Freight,grace@contoso.example,logistics
lead-3,Edsger,Fabrikam Foods,edsger@fabrikam.example,food
`

/** The example campaign for a few more leads, with some schedules. */
const layOut = (folder: Folder): string => {
  const system = join(folder.path, 'campaign')
  cpSync(join(PROJECT, 'examples/campaign'), system, { recursive: true })
  appendFileSync(join(system, 'manifest.yaml'), SCHEDULES)
  appendFileSync(join(system, 'leads.csv'), MORE_LEADS)
  return system
}

/** A session with a history: a person's conversation, and a fork with another attempt. */
const remember = async (database: string): Promise<void> => {
  const trihand = await createTrihand({ system: { name: 'lead-campaign' }, database, work: false })
  const { sessions } = trihand
  const session = await sessions.create()
  await sessions.remember(session, 'customer', { name: 'Northwind Logistics', contact: 'Ada Ferris', since: 2023 })
  await sessions.remember(session, 'goal', 'Fewer stops in two warehouses before winter')
  await sessions.checkpoint(session)
  await sessions.remember(session, 'offer', { plan: 'pilot', weeks: 6, price_usd: 4800 })
  await sessions.checkpoint(session)
  const fork = await sessions.fork(session)
  await sessions.remember(fork, 'offer', { plan: 'full', weeks: 12, price_usd: 9200 })
  await sessions.checkpoint(fork)
  await sessions.remember(session, 'next_step', 'Call on Thursday at 10:00')
  await sessions.checkpoint(session)
  await sessions.remember(session, 'mood', 'curious, asks for numbers')
  await trihand.close()
}

/** A running campaign: mails of one lead are sent, others are in review, and an agent was unsure about a reply. */
const play = async (folder: Folder, world: World): Promise<void> => {
  const send = (type: string, data: object) => folder.json(['send', type, JSON.stringify(data)])
  await send('campaign.requested', { campaign_id: 'autumn' })
  await send('reply.received', { lead_id: 'lead-1', text: 'Yes, let us have a call' })
  await send('reply.received', { lead_id: 'lead-2', text: 'Who are you?' })
  await until(
    () => world.ask<Listed>('/api/tasks?all=true&limit=50'),
    (page) => page.items.length >= 5,
    { what: 'tasks wait' },
  )
  // The first lead's bundle is approved: its mails are sent, one a minute.
  const { items } = await world.ask<Listed>('/api/tasks?all=true&limit=50')
  const bundles = items.filter(({ title }) => title.startsWith('Campaign'))
  if (bundles.length > 1) await approve(world, bundles.at(-1)?.id ?? '')
}

const approve = async ({ url, ask }: World, task: string): Promise<void> => {
  const { shown_hash } = await ask<{ readonly shown_hash: string }>(`/api/tasks/${task}`)
  await fetch(`${url}/api/tasks/${task}/decision`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-trihand-user': 'ana', 'x-trihand-groups': 'sales' },
    body: JSON.stringify({ action: 'approve', shown_hash, items: {} }),
  })
}

const take = async (page: Page, world: World, { name, path, pose }: Screen, scheme: string): Promise<void> => {
  await page.goto(`${world.url}${await path(world)}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await hasLoaded(page)
  await page.locator('[data-live=true]').waitFor()
  await pose?.(page)
  await page.waitForLoadState('networkidle').catch(() => undefined)
  const file = join(OUT, `${name}-${scheme}.png`)
  await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' })
  const { size } = statSync(file)
  console.log(`${name}-${scheme}.png ${Math.round(size / 1024)} kB`)
  if (size > MAX_BYTES) process.exitCode = 1
}

const main = async (): Promise<void> => {
  mkdirSync(OUT, { recursive: true })
  const folder = new Folder()
  const data = join(folder.path, '.trihand')
  mkdirSync(data)
  const database = join(data, 'trihand.db')
  const env = { PORT: String(await freePort()), TRIHAND_DATA: data, DATABASE_URL: database, CAMPAIGN_PAUSE: '1m' }
  await remember(database)
  const [browser, server] = await Promise.all([startBrowser(), folder.serve(['dev', layOut(folder)], { env })])
  const world: World = {
    url: server.url,
    ask: async <Body>(path: string) => (await (await fetch(`${server.url}${path}`)).json()) as Body,
  }
  try {
    await play(folder, world)
    for (const scheme of ['light', 'dark'] as const) {
      const { page, close } = await browser.open({ scheme })
      await page.setViewportSize({ width: Number(given.width), height: 800 })
      await page.addInitScript(`localStorage.setItem('trihand-me', ${JSON.stringify(ME)})`)
      for (const screen of SCREENS)
        if (wanted.length === 0 || wanted.includes(screen.name)) await take(page, world, screen, scheme)
      await close()
    }
  } finally {
    await browser.close()
    await folder.remove()
  }
}

await main()
