/** The change feed over a real socket: it reports commits, catches up, resets, and ends with the server. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { createApp } from '#http/server/app.ts'
import { type Listening, listen } from '#http/server/server.ts'
import { readSse, type SseMessage } from '#test/support/sse.ts'

let trihand: Trihand
let server: Listening

beforeAll(async () => {
  trihand = await createTrihand({
    system: { name: 'shop', events: { go: null }, functions: [fn('work', { trigger: 'go' }, () => 1)] },
    database: 'memory:',
  })
  const app = createApp(trihand, { version: '0', pid: 1, report: () => {} })
  server = await listen({ fetch: (request) => app.fetch(request), port: 0 })
})
afterAll(async () => {
  await server.stop()
  await trihand.close()
})

interface Message {
  readonly id: string | null
  readonly event: string | null
  readonly data: string | null
}

const field = (block: string, name: string): string | null =>
  block.match(new RegExp(`^${name}: (.*)$`, 'm'))?.[1] ?? null

/** Reads messages until the condition holds for one. */
const read = async (
  holds: (message: Message) => boolean,
  headers: Record<string, string> = {},
  begun: () => Promise<unknown> = async () => {},
): Promise<readonly Message[]> => {
  const response = await fetch(`${server.url}/api/stream`, { headers })
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const messages: Message[] = []
  let text = ''
  void begun()
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk)
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end)
      text = text.slice(end + 2)
      const message = { id: field(block, 'id'), event: field(block, 'event'), data: field(block, 'data') }
      messages.push(message)
      if (holds(message)) return messages
    }
  }
  return messages
}

const send = () => trihand.send({ type: 'go', data: {} })
const isNotice = ({ event }: Message): boolean => event === 'notice'

test('a commit is reported, with a position', async () => {
  const messages = await read(({ data }) => data?.includes('"runs"') === true, {}, send)
  const notice = messages.at(-1)
  expect(messages.find(isNotice)?.data).toBe('{"topic":"events","id":null}')
  expect(JSON.parse(notice?.data ?? '')).toEqual({ topic: 'runs', id: expect.stringMatching(/^run_/) })
  expect(notice?.id).toMatch(/-\d+$/)
})

test('a reader that reconnects receives what it missed', async () => {
  const last = (await read(isNotice, {}, send)).at(-1)?.id ?? ''
  const receipt = await send()
  await trihand.result(receipt.runs[0] ?? ('' as never))
  const missed = await read(({ data }) => data?.includes(receipt.runs[0] ?? '?') === true, { 'last-event-id': last })
  expect(missed.every(({ event }) => event !== 'reset')).toBe(true)
})

test('a reader with a position of another server process receives a reset', async () => {
  const messages = await read(({ event }) => event === 'reset', { 'last-event-id': 'another-7' })
  expect(messages.at(-1)?.event).toBe('reset')
})

test('a reader that is too slow is disconnected, and its last message is a reset', async () => {
  const app = createApp(trihand, { version: '0', pid: 1, report: () => {} })
  // Without a socket nothing is taken from the stream before it is read.
  const response = await app.request('/api/stream')
  await Promise.all(Array.from({ length: 520 }, send))
  const messages: SseMessage[] = []
  for await (const message of readSse(response)) messages.push(message)
  expect(messages.length).toBeGreaterThan(1_000)
  expect(messages.filter(({ event }) => event === 'reset')).toEqual([messages.at(-1)])
})

/** Reads to the end; returns how the stream ended, and its messages. */
const readOn = async (
  response: Response,
): Promise<{ readonly isCut: boolean; readonly heard: readonly SseMessage[] }> => {
  const heard: SseMessage[] = []
  try {
    for await (const message of readSse(response)) heard.push(message)
    return { isCut: false, heard }
  } catch {
    return { isCut: true, heard }
  }
}

test('200 readers receive a commit, and all of their streams end by themselves when the server stops', async () => {
  const ending = new AbortController()
  const app = createApp(trihand, { version: '0', pid: 1, report: () => {}, ending: ending.signal })
  const other = await listen({ fetch: (request) => app.fetch(request), port: 0 })
  const responses = await Promise.all(Array.from({ length: 200 }, () => fetch(`${other.url}/api/stream`)))
  const reading = responses.map(readOn)
  const { runs } = await send()
  await trihand.result(runs[0] ?? ('' as never))
  ending.abort()
  for (const { isCut, heard } of await Promise.all(reading)) {
    expect(isCut).toBe(false)
    expect(heard.some(({ data }) => data?.includes(runs[0] ?? '?') === true)).toBe(true)
  }
  await other.stop()
})
