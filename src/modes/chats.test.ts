/** A message whose turn has failed retries the turn as its sender: with no more rights than the sender's credential. */
import { expect, test } from 'vitest'
import type { Kind } from '#model/access/identity.ts'
import type { AskedBy } from '#model/access/requester.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { Chats } from './chats.ts'

const TURN = 'run_00000000-0000-7000-8000-000000000001' as RunId
const NEVER = (): never => {
  throw new Error('not asked for')
}

/** Sends a message to a chat whose `start` still returns the failed turn. Returns who retries that turn. */
const retriedBy = async (asked: AskedBy): Promise<{ readonly by: string; readonly kind: Kind }> => {
  const retries: { by: string; kind: Kind }[] = []
  const chats = new Chats({
    tenant: 'local' as never,
    system: () => ({ chats: new Map([['help', { name: 'help', whileRunning: 'queue' }]]) }) as never,
    now: () => 0,
    digest: (text) => text.length.toString(16).padStart(64, '0'),
    start: async () => TURN,
    cancel: NEVER,
    retry: async (_run, by, kind) => void retries.push({ by, kind }),
    steps: async () => ({ status: 'failed' }) as never,
    listen: NEVER,
    sessions: { memory: async () => null, ensure: async () => {} } as never,
    reader: { runs: NEVER },
  })
  await chats.send({ chat: 'c1', id: 'm1', text: 'Hello' }, asked)
  expect(retries.length).toBe(1)
  return retries[0] as { by: string; kind: Kind }
}

test.each<[string, AskedBy, string, Kind]>([
  ['a person', { by: { id: 'ana', kind: 'user', groups: [] } as never }, 'ana', 'user'],
  ['an agent', { by: { id: 'bot', kind: 'agent', groups: [] } as never }, 'bot', 'agent'],
  [
    'a service that works for a person',
    { by: { id: 'ci', kind: 'service' } as never, requester: 'ana' },
    'ci',
    'service',
  ],
  ['a program that names nobody', {}, 'chat', 'service'],
])('a message of %s retries its failed turn with the kind of its sender (13.1.2)', async (_, asked, by, kind) => {
  expect(await retriedBy(asked)).toEqual({ by, kind })
})
