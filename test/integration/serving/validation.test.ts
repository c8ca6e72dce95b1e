/** A manifest that is validated over HTTP by the published command: whatever its size, the server answers others meanwhile. */
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildCommand, Folder } from '#test/support/serving/command.ts'
import { SHOP } from '#test/support/shop.ts'

let folder: Folder

beforeAll(buildCommand)
beforeEach(() => {
  folder = new Folder({ 'system.ts': SHOP })
})
afterEach(() => folder.remove())

const HEAD = 'product: {name: p, description: d, version: "1"}\n'
const many = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => `${line(i)}\n`).join('')

const events = `${HEAD}events:\n${many(14_000, (i) => `  e${i}: {}`)}`
const functions = `${HEAD}functions:\n${many(1_000, (i) => `  f${i}: {trigger: e${i}}`)}`

const validate = (url: string, text: string): Promise<Response> =>
  fetch(`${url}/api/manifest/validate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  })

test('[M4] validation-1: a server answers others while it validates a manifest of 14,000 names (13.2.5)', async () => {
  const { url } = await folder.serve(['dev', '--port', '0'])
  for (const text of [events, functions]) {
    let isOver = false
    const validated = validate(url, text).finally(() => {
      isOver = true
    })
    // Counted, not timed: a loop that is held answers the first request, which was there already, and no more.
    let answered = 0
    while (!isOver) if ((await fetch(`${url}/health/live`)).ok) answered++
    expect(answered).toBeGreaterThan(5)
    expect(await (await validated).json()).toMatchObject({ is_valid: true })
  }
  const broken = await validate(url, `${events}  e0: {}\n`)
  expect(await broken.json()).toMatchObject({
    is_valid: false,
    findings: [{ code: 'MANIFEST_DUPLICATE_KEY', line: 14_003 }],
  })
})

test('[M4] validation-1: more manifests than can wait to be validated are refused with 429 and retry-after (13.2.5)', async () => {
  const { url } = await folder.serve(['dev', '--port', '0'])
  const text = `${HEAD}events:\n${many(300, (i) => `  e${i}: {}`)}`
  const answers = await Promise.all(Array.from({ length: 40 }, () => validate(url, text)))
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(0)
  for (const { headers } of refused) expect(headers.get('retry-after')).toBe('1')
  expect(answers.filter(({ ok }) => ok)).toHaveLength(40 - refused.length)
  expect((await validate(url, text)).status).toBe(200)
})
