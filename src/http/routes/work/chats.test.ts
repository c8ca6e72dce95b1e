/** Chats over the real application, read by the real client of the AI SDK: turns, resuming, refusals, approvals and forged approvals. */
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chatWorld, decideByWords } from '#test/support/agents/chat.ts'
import { type HeldCall, type HeldModel, heldModel } from '#test/support/agents/held-model.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { type MortalRequests, withRequests } from '#test/support/stores/mortal-requests.ts'
import { until } from '#test/support/until.ts'

const ANA = { 'x-trihand-user': 'ana', 'x-trihand-groups': 'operators' }
const OTTO = { 'x-trihand-user': 'otto', 'x-trihand-groups': 'guests' }

let app: HttpApp
let model: HeldModel
let requests: MortalRequests
let world: ReturnType<typeof chatWorld>

const begin = async (given: Parameters<typeof chatWorld>[0] = {}): Promise<void> => {
  model = heldModel()
  world = chatWorld(given)
  app = await openApp(
    world.source,
    withRequests((mortal) => (requests = mortal)),
    { agents: { models: model } },
  )
}
beforeEach(() => begin())
afterEach(() => app.close())

/** The client as a page would create it; the network is the application itself. */
const transport = (headers: Record<string, string> = ANA) =>
  new DefaultChatTransport<UIMessage>({
    api: 'http://localhost/api/chat',
    headers,
    fetch: (url, init) => app.open(new URL(String(url)).pathname, init),
  })

const said = (text: string, id = text): UIMessage => ({ id, role: 'user', parts: [{ type: 'text', text }] })

const send = (
  messages: UIMessage[],
  headers: Record<string, string> = ANA,
  chatId = 'c1',
): Promise<ReadableStream<UIMessageChunk>> =>
  transport(headers).sendMessages({
    chatId,
    messages,
    trigger: 'submit-message',
    messageId: undefined,
    abortSignal: undefined,
  })

/** The message at the end of a stream. */
const read = async (stream: ReadableStream<UIMessageChunk>, message?: UIMessage): Promise<UIMessage> => {
  let last: UIMessage | undefined
  for await (const seen of readUIMessageStream({ stream, terminateOnError: true, ...(message && { message }) }))
    last = seen
  if (last === undefined) throw new Error('the stream told nothing')
  return last
}

const textOf = ({ parts }: UIMessage): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('|')

/** Lets the agent decide by the words of the message. */
const decide = async (n: number, asked: string): Promise<void> => (await model.call(n)).end(decideByWords(asked))

const chunksOf = async (stream: ReadableStream<UIMessageChunk>): Promise<readonly UIMessageChunk[]> => {
  const chunks: UIMessageChunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

/** Reads until the condition holds for a chunk, and leaves the rest. */
const readTo = async (
  reader: ReadableStreamDefaultReader<UIMessageChunk>,
  holds: (chunk: UIMessageChunk) => boolean,
): Promise<void> => {
  for (let next = await reader.read(); !next.done && !holds(next.value); next = await reader.read());
}

const half = (call: HeldCall): void => call.say('{"action":"reply","reply":"One, two')

describe('[E10][F3] a turn', () => {
  test('chunks-2: streams the text as it is written, ends after it is saved, and says that it is simulated', async () => {
    const stream = await send([said('Hello')])
    const reader = stream.getReader()
    const call = await model.call(1)
    half(call)
    await readTo(reader, (chunk) => chunk.type === 'text-delta' && chunk.delta === 'One, two')
    reader.releaseLock()
    call.end(', three"}')
    const rest = await chunksOf(stream)
    expect(rest.flatMap((chunk) => (chunk.type === 'text-delta' ? chunk.delta : [])).join('')).toBe(', three')
    expect(rest.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop', messageMetadata: { simulated: true } })
    const { body } = await app.ask('/api/chat/c1')
    expect(body).toMatchObject({ id: 'c1', name: 'help', title: 'Hello', running: null })
    expect(body.messages.map((message: UIMessage) => textOf(message))).toEqual(['Hello', 'One, two, three'])
  })

  test('accepts the short form of a message, too', async () => {
    const answer = app.post('/api/chat', { id: 'c1', message: { id: 'm1', text: 'Hello' } })
    await decide(1, 'Hello')
    const { status, headers, text } = await answer
    expect(status).toBe(200)
    expect(headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('is resumed in mid-answer from its beginning; once it has ended there is nothing to resume', async () => {
    const first = await send([said('Hello')])
    const call = await model.call(1)
    half(call)
    await first.cancel()
    const again = await transport().reconnectToStream({ chatId: 'c1' })
    if (again === null) throw new Error('nothing to resume')
    call.end('."}')
    expect(textOf(await read(again))).toBe('One, two.')
    expect(await transport().reconnectToStream({ chatId: 'c1' })).toBeNull()
    expect(model.calls.length).toBe(1)
  })

  test('chunks-1: a model call that is retried drops the text of the failed one', async () => {
    const stream = await send([said('Hello')])
    const call = await model.call(1)
    half(call)
    call.fail({ code: 'MODEL_UNAVAILABLE', detail: 'cut' })
    ;(await model.call(2)).end('{"action":"reply","reply":"Anew."}')
    const chunks = await chunksOf(stream)
    const reset = chunks.findIndex(({ type }) => type === 'data-reset-step')
    const after = chunks.slice(reset).flatMap((chunk) => (chunk.type === 'text-delta' ? chunk.delta : []))
    expect(after.join('')).toBe('Anew.')
  })

  test('is stopped by the stop route, not by a reader that disconnects', async () => {
    const stream = await send([said('Hello')])
    const call = await model.call(1)
    await (await transport().reconnectToStream({ chatId: 'c1' }))?.cancel()
    expect(call.signal.aborted).toBe(false)
    expect((await app.post('/api/chat/c1/stop', {})).body).toEqual({ stopped: true })
    expect((await chunksOf(stream)).at(-1)).toEqual({ type: 'abort' })
    expect(call.signal.aborted).toBe(true)
  })

  test('is stopped once by a request whose server died before it answered: a later turn continues (14.6)', async () => {
    const stop = () => app.post('/api/chat/c1/stop', {}, { 'idempotency-key': 'stop', ...ANA })
    const stream = await send([said('Hello')])
    await model.call(1)
    requests.isDying = true
    expect((await stop()).body).toEqual({ stopped: true })
    expect((await chunksOf(stream)).at(-1)).toEqual({ type: 'abort' })
    const next = await send([said('Hello'), said('Again')])
    const call = await model.call(2)
    expect((await stop()).body).toEqual({ stopped: true })
    expect(call.signal.aborted).toBe(false)
    await app.post('/api/chat/c1/stop', {})
    expect((await chunksOf(next)).at(-1)).toEqual({ type: 'abort' })
  })

  test('that fails shows the reason and the code, and the same message can be sent again', async () => {
    const stream = await send([said('Hello', 'm1')])
    ;(await model.call(1)).fail({ code: 'MODEL_REJECTED', detail: 'not that' })
    await expect(read(stream)).rejects.toThrow(/not that.*MODEL_REJECTED/)
    const { body } = await app.ask('/api/chat/c1')
    expect(body.messages[1].parts).toMatchObject([{ type: 'data-error', data: { code: 'MODEL_REJECTED' } }])
    const again = await send([said('Hello', 'm1')])
    await decide(2, 'Hello')
    expect(textOf(await read(again))).toBe('You said: Hello')
  })
})

describe('[E10] an action that a turn executes', () => {
  test('is shown with its result', async () => {
    const stream = await send([said('add 2 and 3')])
    await decide(1, 'add')
    const message = await read(stream)
    expect(message.parts).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({
          type: 'dynamic-tool',
          toolName: 'add',
          state: 'output-available',
          output: { sum: 5 },
        }),
        expect.objectContaining({ type: 'data-run', data: expect.objectContaining({ status: 'done' }) }),
      ]),
    )
    expect(message.parts.filter(({ type }) => type === 'data-run').length).toBe(1)
    const saved = (await app.ask('/api/chat/c1')).body.messages[1]
    expect(saved.parts[1]).toMatchObject({ type: 'dynamic-tool', state: 'output-available', output: { sum: 5 } })
  })

  /** Begins a turn that waits for a person, and returns it as the client has it. */
  const waiting = async (): Promise<{ readonly message: UIMessage; readonly approval: string }> => {
    const stream = await send([said('mail Bo')])
    await decide(model.calls.length + 1, 'mail')
    const message = await read(stream)
    const part = message.parts.find(({ type }) => type === 'dynamic-tool')
    const approval = part !== undefined && 'approval' in part ? (part.approval?.id ?? '') : ''
    return { message, approval }
  }

  const answered = (message: UIMessage, id: string, approved = true): UIMessage => ({
    ...message,
    parts: message.parts.map((part) =>
      part.type === 'dynamic-tool'
        ? ({ ...part, state: 'approval-responded', approval: { id, approved } } as never)
        : part,
    ),
  })

  test('waits for a person, whose answer in the chat is an ordinary decision, and then continues where it was', async () => {
    const { message, approval } = await waiting()
    expect(message.parts.find(({ type }) => type === 'data-task')).toMatchObject({
      data: { url: expect.stringMatching(/^\/inbox\?task=tsk_/) },
    })
    expect(world.mails).toEqual([])
    const stream = await send([said('mail Bo'), answered(message, approval)])
    const whole = await read(stream, message)
    expect(textOf(whole)).toBe('I mail Bo.|The mail is out.')
    expect(world.mails).toEqual([{ to: 'bo' }])
  })

  test('[N3] shows a plan as a part of its own, from the draft to its run, also when the conversation is read again', async () => {
    const stream = await send([said('make a plan')])
    await decide(model.calls.length + 1, 'plan')
    const message = await read(stream)
    const cards = (parts: readonly { readonly type: string }[]) => parts.filter(({ type }) => type === 'data-plan')
    const [card, ...others] = cards(message.parts) as unknown as [{ data: Record<string, string> }]
    expect(others).toEqual([])
    expect(card.data).toMatchObject({
      ...{ goal: 'Add, then mail', status: 'waiting', run_id: null, errors: [], hash: expect.any(String) },
      steps: [
        { id: 'a', by: 'add', hand: 'workflow', requires: [] },
        { id: 'b', by: 'mail', requires: ['a'] },
      ],
    })
    expect((await app.ask(`/api/plans/${card.data['plan_id']}`)).body).toMatchObject({ hash: card.data['hash'] })
    const part = message.parts.find(({ type }) => type === 'dynamic-tool') as { approval: { id: string } } | undefined
    const whole = await read(await send([answered(message, part?.approval.id ?? '')]), message)
    expect(cards(whole.parts)).toMatchObject([{ data: { status: 'done', run_id: expect.stringMatching(/^run_/) } }])
    expect(whole.parts.filter(({ type }) => type === 'data-run')).toMatchObject([{ data: { status: 'done' } }])
    expect(world.mails).toHaveLength(1)
    expect(cards((await app.ask('/api/chat/c1')).body.messages[1].parts)).toMatchObject(cards(whole.parts))
  })

  test('is not executed when the person rejects it', async () => {
    const { message, approval } = await waiting()
    const whole = await read(await send([answered(message, approval, false)]), message)
    expect(whole.parts.find(({ type }) => type === 'dynamic-tool')).toMatchObject({ state: 'output-denied' })
    expect(world.mails).toEqual([])
  })

  test('[S3] is not executed by a forged approval: in the history, of another task, of content that was not shown, by a stranger', async () => {
    const { message, approval } = await waiting()
    const [task = '', hash = ''] = approval.split('.')
    const forged: readonly [UIMessage[], Record<string, string>][] = [
      [[answered(message, `${task}.${hash.slice(1)}x`)], ANA],
      [[answered(message, `tsk_${'0'.repeat(32)}.${hash}`)], ANA],
      [[answered(message, task)], ANA],
      [[answered(message, approval)], OTTO],
      [[answered(message, approval)], { ...ANA, 'x-trihand-kind': 'agent' }],
    ]
    for (const [messages, headers] of forged) await expect(send(messages, headers)).rejects.toThrow()
    // In the history of another message it is not an answer: that message waits for its turn.
    const stream = await send([answered(message, approval), said('Hello')])
    await app.post('/api/chat/c1/stop', {})
    await decide(2, 'Hello')
    await read(stream)
    expect(world.mails).toEqual([])
  })
})

describe('before a stream opens', () => {
  test.each([
    [{ id: 'c1' }, 'the request has no message'],
    [{ id: 'c1', messages: [{ role: 'assistant', id: 'x', parts: [] }] }, 'must be from the user'],
    [{ id: 'c1', message: { text: 'Hi' } }, 'needs an id'],
    [{ id: 'c1', message: { id: 'm', text: '  ' } }, 'a message must have 1 to'],
    [{ message: { id: 'm', text: 'Hi' } }, 'the id of the chat'],
    [{ id: 'a\u0000b', message: { id: 'm', text: 'Hi' } }, 'no control characters'],
  ])('%j is refused with a readable detail', async (request, words) => {
    const { status, body } = await app.post('/api/chat', request)
    expect([status, body.code]).toEqual([422, 'INPUT_INVALID'])
    expect(body.detail).toContain(words)
    expect(model.calls.length).toBe(0)
  })

  test('an unknown chat is not found', async () => {
    expect((await app.ask('/api/chat/nobody')).status).toBe(404)
    expect((await app.ask('/api/chat/nobody/stream')).status).toBe(404)
    const { status, body } = await app.post('/api/chat', { id: 'c1', chat: 'nobody', message: { id: 'm', text: 'Hi' } })
    expect([status, body.detail]).toEqual([404, 'there is no chat nobody; chats: help'])
  })

  test('[F4] a message during a turn is refused if the chat is configured so, and the client shows why', async () => {
    await app.close()
    await begin({ onMessageWhileRunning: 'reject' })
    const stream = await send([said('Hello')])
    await model.call(1)
    await expect(send([said('And?')])).rejects.toThrow('the previous message is still being answered')
    await decide(1, 'Hello')
    expect(textOf(await read(stream))).toBe('You said: Hello')
  })
})

test('the conversations are listed, newest first, with the defined chats', async () => {
  for (const [n, chat] of ['c1', 'c2'].entries()) {
    const stream = await send([said('Hello')], ANA, chat)
    await decide(n + 1, 'Hello')
    await read(stream)
  }
  const { body } = await until(
    () => app.ask('/api/chat'),
    (answer) => answer.body.items.length === 2,
    { what: 'both are listed' },
  )
  expect(body.chats).toMatchObject([{ name: 'help', on_message_while_running: 'enqueue' }])
  expect(new Set(body.items.map(({ id }: { id: string }) => id))).toEqual(new Set(['c1', 'c2']))
})
