/**
 * A small chat system for tests: an agent that decides by the user's message, one function without effects, one with.
 *
 * Owns the wording of the agent's decisions and the record of performed effects.
 */
import { openChats } from '#compose/chats.ts'
import { fn } from '#executors/workflow/function.ts'
import { agent } from '#manifest/define/agents.ts'
import type { ChatSource } from '#manifest/define/chats.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Chats } from '#modes/chats.ts'
import { until } from '#test/support/until.ts'
import type { TestStore, TestSystem } from '#testing/system.ts'
import { lastText, type PaidModel, paidModel, said } from './agents.ts'

const decision = (action: string, reply: string, more: { readonly [name: string]: Json } = {}): string =>
  JSON.stringify({ action, reply, ...more })

/** The agent's decision, by the words of the last message. */
export const decideByWords = (asked: string): string => {
  if (asked.includes('plan')) {
    const text = `a. Add\nb. ${asked.includes('wrong') ? 'Dance' : 'Mail'} (requires step a)`
    const task = { goal: 'Add, then mail', text, input: { a: 2, b: 3 } }
    return decision('execute', 'Here is a plan.', { executor_type: 'plan', task })
  }
  if (asked.includes('usual'))
    return decision('execute', 'As always.', { executor_type: 'usual', task: { a: 1, b: 2 } })
  if (asked.includes('add')) return decision('execute', 'I add them.', { executor_type: 'add', task: { a: 2, b: 3 } })
  if (asked.includes('mail')) return decision('execute', 'I mail Bo.', { executor_type: 'mail', task: { to: 'bo' } })
  if (asked.includes('delete')) return decision('execute', 'Gone.', { executor_type: 'delete_all', task: {} })
  if (asked.includes('break')) return decision('execute', 'I try.', { executor_type: 'broken', task: {} })
  if (asked.includes('template')) {
    const task = { template: 'Dear {{ name }}', input_variables: { name: 'Bo' } }
    return decision('execute', 'Here it is.', { executor_type: 'template_engine', task })
  }
  if (asked.includes('which')) return decision('ask', 'Which one do you mean?')
  return decision('reply', `You said: ${asked}`)
}

export const decider = (): PaidModel => paidModel((request) => said(decideByWords(lastText(request))))

export interface ChatWorld {
  readonly mails: Json[]
  readonly source: SystemSource
}

export const chatWorld = (given: Partial<ChatSource> = {}): ChatWorld => {
  const mails: Json[] = []
  const source: SystemSource = {
    name: 'helpdesk',
    agents: [agent('helper', { instructions: 'Help people.' })],
    functions: [
      fn('add', { allowedOperations: ['transform'] }, ({ input }) => {
        const { a, b } = input as { a: number; b: number }
        return { sum: a + b }
      }),
      fn('mail', {}, async ({ input, step }) => {
        await step.run('send', () => mails.push(input), { effect: 'once' })
        return 'The mail is out.'
      }),
      fn('broken', { allowedOperations: ['transform'], retry: { maxAttempts: 1 } }, () => {
        throw new Error('no luck')
      }),
      fn('secret', {}, () => 'never'),
      fn('usual', { plan: { goal: 'What we always do', approve: 'auto', text: 'a. Add\nb. Mail (requires step a)' } }),
    ],
    chats: [
      {
        name: 'help',
        agent: 'helper',
        executors: [{ name: 'add', description: 'adds a and b' }, 'mail', 'broken', 'template_engine', 'plan', 'usual'],
        ...given,
      },
    ],
  }
  return { mails, source }
}

export const chatsIn = (system: TestSystem, place: TestStore): Chats =>
  openChats(system.engine, system.store.reader, { ids: place.ids(), clock: system.clock })

/** Sends a message and returns the turn that it started. */
export const sendTo = (system: TestSystem, chats: Chats, text: string, id = text, chat = 'c1'): Promise<RunId> =>
  system.run(() => chats.send({ chat, id, text }))

/** Waits until the ledger shows the turn's result. */
export const turnIs = (system: TestSystem, chats: Chats, run: RunId, status: string) =>
  system.run(() =>
    until(
      () => chats.view(run),
      (view) => view.status === status || ['done', 'failed', 'cancelled'].includes(view.status),
      { what: `the turn is ${status}` },
    ),
  )
