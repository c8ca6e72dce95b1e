/** A chat, from a message to its saved answer: an agent decides, a policy checks, a person approves, a run executes. */
import { expect, test } from 'vitest'
import type { ChatSource } from '#manifest/define/chats.ts'
import { textOfMessage } from '#model/chat/chat.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Chats } from '#modes/chats.ts'
import { agentPlace, beginAgents } from '#test/support/agents/agent-system.ts'
import { failedWith, type PaidModel, paidModel, said } from '#test/support/agents/agents.ts'
import { chatsIn, chatWorld, decideByWords, decider, sendTo, turnIs } from '#test/support/agents/chat.ts'
import { Inbox, person } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'

const place = agentPlace()
const ana = person('ana', 'operators')

onEveryStore('a chat', (store) => {
  const begin = async (given: Partial<ChatSource> = {}, model: PaidModel = decider()) => {
    const world = chatWorld(given)
    const at = store()
    const system = await beginAgents(world.source, at, place, model)
    let chats = chatsIn(system, at)
    const crash = async (): Promise<void> => {
      await system.crash()
      chats = chatsIn(system, at)
    }
    const say = (text: string, id = text): Promise<RunId> => sendTo(system, chats, text, id)
    const is = (run: RunId, status: string) => turnIs(system, chats, run, status)
    const told = () => system.run(() => chats.show('c1'))
    const chat = (): Chats => chats
    return { ...world, model, system, crash, say, is, told, chat }
  }

  const texts = async ({ told }: { told: () => ReturnType<Chats['show']> }) =>
    (await told()).messages.map((message) => [message.role, textOfMessage(message)])

  test('[E10] chat-turn-1: a message is saved, answered once, and included in the next turn', async () => {
    const chat = await begin()
    const first = await chat.say('Hello')
    expect(await chat.is(first, 'done')).toMatchObject({ status: 'done', reply: 'You said: Hello', execution: null })
    const second = await chat.say('Hello again')
    await chat.is(second, 'done')
    expect(await texts(chat)).toEqual([
      ['user', 'Hello'],
      ['assistant', 'You said: Hello'],
      ['user', 'Hello again'],
      ['assistant', 'You said: Hello again'],
    ])
    const request = chat.model.calls[1]
    expect(request?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(request?.system).toContain('- add: adds a and b')
    expect(await chat.system.run(() => chat.chat().list(10))).toMatchObject([
      { id: 'c1', name: 'help', title: 'Hello' },
    ])
    await chat.system.close()
  })

  test('[E10] chats-1: the same message twice is one turn, one answer and one bill, also after a crash', async () => {
    const chat = await begin()
    const first = await chat.say('Hello', 'm1')
    expect(await chat.say('Hello', 'm1')).toBe(first)
    await chat.is(first, 'done')
    await chat.crash()
    expect(await chat.say('Hello', 'm1')).toBe(first)
    await chat.system.settle()
    expect(chat.model.calls.length).toBe(1)
    expect((await chat.told()).messages.length).toBe(2)
    await chat.system.close()
  })

  test('[E10] an executor without effects runs at once, and its result is part of the answer', async () => {
    const chat = await begin()
    const view = await chat.is(await chat.say('add 2 and 3'), 'done')
    expect(view.execution).toMatchObject({ executor: 'add', state: 'done', output: { sum: 5 } })
    expect((await chat.told()).messages[1]?.parts).toMatchObject([
      { type: 'text', text: 'I add them.' },
      { type: 'execution', executor: 'add', state: 'done', output: { sum: 5 } },
    ])
    await chat.system.close()
  })

  test('[E10] an executor type receives a task by the contract, and its content is the answer', async () => {
    const chat = await begin()
    const view = await chat.is(await chat.say('a template please'), 'done')
    expect(view).toMatchObject({ closing: 'Dear Bo', execution: { state: 'done' } })
    await chat.system.close()
  })

  test('[E10] chat-2: an executor that may have effects waits for a person through days and a crash, and runs once', async () => {
    const chat = await begin()
    const run = await chat.say('mail Bo')
    expect((await chat.is(run, 'waiting')).execution).toMatchObject({ executor: 'mail', state: 'waiting' })
    expect(chat.mails).toEqual([])
    await chat.system.advance('3d')
    await chat.crash()
    const inbox = new Inbox(chat.system)
    expect(await inbox.of(ana)).toMatchObject([{ type: 'approval', title: 'Chat help wants to execute mail' }])
    await inbox.decide(await inbox.only(), ana, { action: 'approve' })
    expect(await chat.is(run, 'done')).toMatchObject({ closing: 'The mail is out.' })
    expect(chat.mails).toEqual([{ to: 'bo' }])
    expect(chat.model.calls.length).toBe(1)
    await chat.system.close()
  })

  test('a rejection is reported to the user, and nothing is executed', async () => {
    const chat = await begin()
    const run = await chat.say('mail Bo')
    await chat.is(run, 'waiting')
    const inbox = new Inbox(chat.system)
    await inbox.decide(await inbox.only(), ana, { action: 'reject', reason: 'not today' })
    expect((await chat.is(run, 'done')).execution).toMatchObject({ state: 'denied', detail: 'not today' })
    expect(chat.mails).toEqual([])
    await chat.system.close()
  })

  test('[E10] chat-1: an executor that the chat does not list is denied, and the user is told', async () => {
    const chat = await begin()
    const view = await chat.is(await chat.say('delete it all'), 'done')
    expect(view.execution).toMatchObject({ state: 'denied', detail: expect.stringContaining('delete_all') })
    await chat.system.close()
  })

  test('a failed executor gives an answer that says so; a failed agent gives a failed turn that can be tried again', async () => {
    let isDown = true
    const model = paidModel(() => (isDown ? failedWith('MODEL_REJECTED') : said(decideByWords('Hello'))))
    const chat = await begin({}, model)
    const first = await chat.say('Hello', 'm1')
    expect(await chat.is(first, 'failed')).toMatchObject({ error: { code: 'MODEL_REJECTED' } })
    expect((await chat.told()).messages[1]).toMatchObject({ role: 'assistant', error: { code: 'MODEL_REJECTED' } })
    isDown = false
    const again = await chat.say('Hello', 'm1')
    await chat.is(again, 'done')
    expect(await texts(chat)).toEqual([
      ['user', 'Hello'],
      ['assistant', 'You said: Hello'],
    ])
    await chat.system.close()
    const broken = await begin()
    const view = await broken.is(await broken.say('break it'), 'done')
    expect(view.execution).toMatchObject({ state: 'failed', detail: expect.stringContaining('no luck') })
    await broken.system.close()
  })

  test('[F4] a message during a turn waits for its end', async () => {
    const chat = await begin()
    const first = await chat.say('mail Bo')
    await chat.is(first, 'waiting')
    const second = await chat.say('Hello')
    await chat.system.settle()
    expect((await chat.system.run(() => chat.chat().view(second))).status).toBe('queued')
    await chat.crash()
    const inbox = new Inbox(chat.system)
    await inbox.decide(await inbox.only(), ana, { action: 'reject', reason: 'no' })
    await chat.is(second, 'done')
    expect((await texts(chat)).map(([role]) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    await chat.system.close()
  })

  test('[F4] chats-2: a message during a turn interrupts it, if the chat is configured so', async () => {
    const chat = await begin({ onMessageWhileRunning: 'interrupt' })
    const first = await chat.say('mail Bo')
    await chat.is(first, 'waiting')
    const second = await chat.say('Hello')
    expect((await chat.is(first, 'cancelled')).status).toBe('cancelled')
    expect((await chat.is(second, 'done')).reply).toBe('You said: Hello')
    expect(await texts(chat)).toEqual([
      ['user', 'mail Bo'],
      ['user', 'Hello'],
      ['assistant', 'You said: Hello'],
    ])
    expect(chat.mails).toEqual([])
    await chat.system.close()
  })

  test('[F4] a message during a turn is refused, if the chat is configured so', async () => {
    const chat = await begin({ onMessageWhileRunning: 'reject' })
    const first = await chat.say('mail Bo')
    await chat.is(first, 'waiting')
    await expect(chat.say('Hello')).rejects.toMatchObject({ code: 'TURN_RUNNING' })
    expect(await chat.say('mail Bo')).toBe(first)
    expect(await chat.system.run(() => chat.chat().stop('c1', 'ana'))).toBe(true)
    await chat.is(first, 'cancelled')
    await chat.is(await chat.say('Hello'), 'done')
    expect(await chat.system.run(() => chat.chat().stop('c1', 'ana'))).toBe(false)
    await chat.system.close()
  })
})
