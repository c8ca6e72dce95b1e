/** The cost of failed model calls, and which models are simulated, as a person sees it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Provider, refuses, says, startProvider } from '#test/support/agents/model-provider.ts'
import { axeFindings, startBrowser, type TestBrowser, type WatchedPage } from '#test/support/serving/browser.ts'
import { Folder, type Server } from '#test/support/serving/command.ts'
import { until } from '#test/support/until.ts'

let browser: TestBrowser
let folder: Folder
let provider: Provider

beforeAll(async () => {
  browser = await startBrowser()
  folder = new Folder()
  provider = await startProvider((model) => {
    if (model === 'away') return refuses(503)
    const usage = { prompt_tokens: 900, completion_tokens: 80, total_tokens: 980, cost: 0.02 }
    return model === 'cut' ? ({ response }) => void response.destroy() : says({ text: 'Fine.', usage })
  })
})
afterAll(async () => {
  await browser.close()
  await provider.close()
  await folder.remove()
})

const serve = async (models: string): Promise<Server> => {
  folder.write(
    'manifest.yaml',
    `product: { name: desk }
defaults: { model: spare, models: { ${models} } }
prices: { away: { input: 1, output: 5 } }
events: { definitions: [{ name: mail.came }] }
agents:
  - { name: writer, trigger: mail.came, prompt: answer.md, config: { model: away, fallback_models: [cut, spare] }, limits: { max_retries: 0 } }
`,
  )
  folder.write('answer.md', 'Answer.')
  return folder.serve(['dev', '--port', '0'])
}

const opened = async (address: string): Promise<WatchedPage> => {
  const watched = await browser.open()
  await watched.page.addInitScript(`localStorage.setItem('trihand-me', '{"name": "ana", "groups": "operators"}')`)
  await watched.page.goto(address)
  return watched
}

test('the run shows each failed attempt, and what was spent, unknown or unverified (15.3.1)', async () => {
  const server = await serve(
    ['away', 'cut', 'spare'].map((id) => `${id}: { id: ${id}, base_url: ${provider.url} }`).join(', '),
  )
  const sent = await fetch(`${server.url}/api/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'mail.came', data: {} }),
  })
  const { runs } = (await sent.json()) as { readonly runs: readonly string[] }
  const look = async () =>
    ((await (await fetch(`${server.url}/api/runs/${runs[0]}`)).json()) as { status: string }).status
  await until(look, (status) => status === 'success', { timeoutMs: 60_000, what: 'the run is over' })
  const { page, faults, close } = await opened(`${server.url}/runs/${runs[0]}?tab=spent`)
  const table = page.getByRole('table', { name: 'Tokens and cost', exact: true })
  await table.waitFor()
  for (const text of ['1 failed', 'unknown', 'unknown ($0.02 reported, unverified)'])
    await table.getByRole('cell', { name: text, exact: true }).first().waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(faults).toEqual([])
  const right = async (role: 'columnheader' | 'cell', name: string): Promise<number> => {
    const box = await table.getByRole(role, { name, exact: true }).first().boundingBox()
    return Math.round((box?.x ?? 0) + (box?.width ?? 0))
  }
  // A header is above its column.
  expect(await right('columnheader', 'Cost')).toBe(await right('cell', 'unknown'))
  await close()
  await server.stop()
})

test('simulated models are shown at the top, and the settings say which and why (15.3.2)', async () => {
  const server = await serve('away: claude-opus-5, cut: claude-opus-5, spare: claude-opus-5')
  const { page, faults, close } = await opened(`${server.url}/`)
  await page.getByRole('link', { name: 'Simulated models', exact: true }).click()
  const settings = page.getByRole('table', { name: 'This server', exact: true })
  await settings.getByText(/agents answer from scripts \(away, cut, spare: ANTHROPIC_API_KEY is not set\)/).waitFor()
  expect(await axeFindings(page)).toEqual([])
  expect(faults).toEqual([])
  await close()
  await server.stop()
})
