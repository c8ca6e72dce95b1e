/** The web app: its page at every screen, its files, and no page in the place of an unknown API route. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Hono } from 'hono'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readWebApp } from '#http/web-app.ts'
import { temporaryFolder } from '#test/support/places.ts'
import { serveWebApp } from './web-app.ts'

const folder = temporaryFolder('web-app')
const hono = new Hono()

beforeAll(() => {
  mkdirSync(join(folder.path, 'assets'))
  writeFileSync(
    join(folder.path, 'index.html'),
    '<meta name="csp-nonce" content="__NONCE__"><script src="./assets/a-1.js"></script>',
  )
  writeFileSync(join(folder.path, 'assets/a-1.js'), 'go()')
  writeFileSync(join(folder.path, 'theme.js'), 'dark()')
  writeFileSync(join(folder.path, 'secret.txt'), 'no')
  const app = readWebApp(folder.path)
  if (app === null) throw new Error('the app was not found')
  serveWebApp(hono, app, async () => null)
  hono.notFound((context) => context.text('nothing', 404))
})
afterAll(() => folder.remove())

test.each(['/', '/runs', '/runs/run_1', '/inbox'])(
  '%s answers the page, under a policy with a new nonce each time',
  async (path) => {
    const [one, two] = [await hono.request(path), await hono.request(path)]
    const nonce = (await one.text()).match(/content="([^"]+)"/)?.[1] ?? ''
    expect(one.headers.get('content-security-policy')).toContain(`'nonce-${nonce}'`)
    expect(await two.text()).not.toContain(nonce)
  },
)

test('files are referenced by absolute paths, also from a deep screen', async () => {
  expect(await (await hono.request('/runs/run_1')).text()).toContain('src="/assets/a-1.js"')
})

test('a file with a hash in its name is cached for ever, another is revalidated', async () => {
  const asset = await hono.request('/assets/a-1.js')
  expect(asset.headers.get('cache-control')).toContain('immutable')
  expect(await asset.text()).toBe('go()')
  expect((await hono.request('/theme.js')).headers.get('cache-control')).toBe('no-cache')
})

test.each(['/api/nothing', '/assets/b.js', '/openapi.json', '/secret.txt', '/mcp', '/assets/../secret.txt'])(
  '%s does not answer the page',
  async (path) => {
    const answer = await hono.request(path)
    expect([answer.status, await answer.text()]).toEqual([404, 'nothing'])
  },
)

test('a checkout that was not built has no web app', () => {
  expect(readWebApp(join(folder.path, 'nowhere'))).toBe(null)
})
