/** The page inside of an application: below a path of its server, for the person whom the application names. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Trihand, TrihandOptions } from '#compose/assemble.ts'
import { human } from '#manifest/human/humans.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { PROJECT } from '#test/support/places.ts'
import { startBrowser, type TestBrowser } from '#test/support/serving/browser.ts'

let browser: TestBrowser
let app: Trihand
let server: Server
let url = ''

const SYSTEM = {
  name: 'support',
  events: { wanted: null },
  humans: [
    human('sign', {
      trigger: 'wanted',
      title: 'Sign {{ payload.what }}',
      assign: 'group:leads',
      actions: ['approve', 'reject'],
    }),
  ],
}

beforeAll(async () => {
  const { createTrihand } = (await import(/* @vite-ignore */ pathToFileURL(join(PROJECT, 'dist/index.js')).href)) as {
    readonly createTrihand: (options: TrihandOptions) => Promise<Trihand>
  }
  const http = { basePath: '/shop/trihand', identify: () => ({ id: 'ana', groups: ['leads'] }) }
  app = await createTrihand({ system: SYSTEM, database: 'memory:', drain: 100, http })
  server = createServer((incoming, outgoing) => app.node(incoming, outgoing, () => outgoing.end('the shop')))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await startBrowser()
})

afterAll(async () => {
  await browser.close()
  await app.close()
  server.closeAllConnections()
  server.close()
})

test('an inbox below a path of the application: live, decided, and reloaded on any screen (15.5.2)', async () => {
  const { page, faults, close } = await browser.open()
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.goto(`${url}/shop/trihand`)
  await page.waitForURL(`${url}/shop/trihand/inbox**`)
  await page.locator('[data-live=true]').waitFor()
  await app.send({ type: 'wanted', data: { what: 'the contract' } })
  await page
    .getByRole('link', { name: /Sign the contract/ })
    .first()
    .click()
  await page.getByRole('heading', { name: 'Sign the contract', exact: true }).waitFor()
  // The application identifies the person: nobody has to log in, and there is nothing to log out of.
  await page.getByRole('button', { name: 'ana', exact: true }).click()
  await page.getByText('leads', { exact: true }).waitFor()
  expect(await page.getByRole('button', { name: 'Log out', exact: true }).count()).toBe(0)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: /^Approve: / })
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.goto(`${url}/shop/trihand/runs`)
  const [run] = await app.reader.runs({ tenant: LOCAL_TENANT, status: null, handler: null, before: null, limit: 1 })
  await page.locator(`a[href="/shop/trihand/runs/${run?.id}"]`).click()
  await page.waitForURL(`${url}/shop/trihand/runs/${run?.id}**`)
  await page.reload()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.goto(`${url}/shop/trihand/graph`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(asked.filter((path) => !path.startsWith('/shop/trihand'))).toEqual([])
  expect(faults).toEqual([])
  await close()
  expect(await (await fetch(`${url}/shop`)).text()).toBe('the shop')
})
