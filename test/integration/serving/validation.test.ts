/** Validates manifests of any size over HTTP by the published command while the server answers other requests. */
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

test('[M4] validation-1: a server answers other requests while it validates a manifest of 14,000 names (13.2.5)', async () => {
  const { url } = await folder.serve(['dev', '--port', '0'])
  for (const text of [events, functions]) {
    let isOver = false
    const validated = validate(url, text).finally(() => {
      isOver = true
    })
    // Counted, not timed: a blocked loop would answer only the first request, which was already there.
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

test('[M4] validation-1: manifests beyond the validation queue are refused with 429 and retry-after (13.2.5)', async () => {
  const { url } = await folder.serve(['dev', '--port', '0'])
  const text = `${HEAD}events:\n${many(300, (i) => `  e${i}: {}`)}`
  const answers = await Promise.all(Array.from({ length: 40 }, () => validate(url, text)))
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(0)
  for (const { headers } of refused) expect(headers.get('retry-after')).toBe('1')
  expect(answers.filter(({ ok }) => ok)).toHaveLength(40 - refused.length)
  expect((await validate(url, text)).status).toBe(200)
})
