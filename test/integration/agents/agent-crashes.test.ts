/** Crashes a system at every point of an agent that reads, sends an approved mail and answers, and counts paid calls and mails. */
import { describe, expect, test } from 'vitest'
import { openMemory } from '#adapters/storage/memory/open.ts'
import { agent } from '#manifest/define/agents.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import { type CrashAt, type Life, World } from '#test/support/agents/agent-lives.ts'
import { called, said } from '#test/support/agents/agents.ts'
import { person } from '#test/support/serving/inbox.ts'
import { answerStep } from '#test/support/step-answer.ts'

const ana = person('ana', 'operators')

/** Reply 1: two reads. Reply 2: a mail that needs approval. Reply 3: the answer. */
const aWorld = (): World =>
  new World((_, turn) => {
    if (turn === 0) return called(['lookup', { id: 1 }], ['lookup', { id: 2 }])
    return turn === 1 ? called(['mail.send', { to: 'bo' }]) : said('sent')
  })

const systemOf = (world: World): SystemSource => ({
  name: 'mailing',
  tools: [
    { name: 'lookup', effect: 'none', run: () => 'bo@example.org' },
    {
      name: 'mail.send',
      effect: 'once',
      approval: true,
      run: (input: never) => world.effect(() => world.mails.push(input)),
    },
  ],
  agents: [
    agent('mailer', {
      instructions: 'send it',
      allowedTools: ['lookup', 'mail.send'],
      workspace: { cleanup: 'never' },
      limits: { maxTokens: 500_000 },
    }),
  ],
})

/** The people of the test: they approve what is shown, and answer truthfully whether an uncertain mail was sent. */
const attend = async (life: Life, world: World, run: RunId): Promise<void> => {
  const { reader } = openMemory(world.store, world.blobs)
  const open = await reader.tasks({
    ...{ tenant: LOCAL_TENANT, isOpen: true, addresses: null, viewer: null, status: null, type: null, claimedBy: null },
    ...{ run: null, order: 'oldest' as const, after: null, limit: 10 },
  })
  for (const { id } of open) {
    const look = await life.run(() => life.engine.tasks.show(id))
    if (look === null || look.state.kind !== 'open') continue
    const shownHash = look.state.hash
    const action = look.state.spec.actions.some(({ name }) => name === 'approve') ? 'approve' : null
    if (action !== null) await life.run(() => life.engine.tasks.submit(id, ana, { action, shownHash }))
  }
  // Refused unless the mail's outcome is uncertain.
  const verdict = world.mails.length > 0 ? 'happened' : 'run_again'
  await life.run(() => answerStep(life.engine, run, 'agent/tool[1.0]', { verdict, by: 'ana' }).catch(() => {}))
}

const tend = async (life: Life, world: World, run: RunId): Promise<string> => {
  for (let rounds = 0; rounds < 8; rounds++) {
    await life.settle()
    if (life.isDead()) return 'dead'
    const seen = await life.run(() => life.engine.look(run))
    if (seen === null) return 'dead'
    if (seen.status !== 'waiting' && seen.status !== 'running' && seen.status !== 'queued') return seen.status
    await attend(life, world, run)
  }
  return 'stuck'
}

interface Played {
  readonly world: World
  readonly status: string
  readonly points: number
  readonly died: boolean
  /** Model calls whose cost was reserved in the ledger. */
  readonly reserved: number
}

const reservations = async ({ store, blobs }: World, run: RunId): Promise<number> => {
  const facts = await openMemory(store, blobs).reader.facts(LOCAL_TENANT, run, { after: 0, limit: 1_000 })
  return facts
    .map(readRunFact)
    .filter((fact) => fact.type === 'step.completed' && fact.step.startsWith('agent/reserve')).length
}

/** Runs one life that ends at the point, and a second one that runs to the end. */
const play = async (crash: CrashAt | null): Promise<Played> => {
  const world = aWorld()
  const source = systemOf(world)
  const coordinator = await world.live(source, null, false)
  const run = await coordinator.run(() => coordinator.engine.startRun('mailer', null, {}))
  if (run === null) throw new Error('the run was not started')
  const first = await world.live(source, crash)
  const status = await tend(first, world, run)
  const died = first.isDead()
  const last = died ? await tend(await world.live(source, null), world, run) : status
  return { world, status: last, points: first.points(), died, reserved: await reservations(world, run) }
}

describe('[B10] an agent that reads, sends an approved mail and answers', () => {
  test('pays three calls and sends one mail without a crash', async () => {
    const { world, status, points } = await play(null)
    expect({ status, paid: world.paid, mails: world.mails.length }).toEqual({ status: 'success', paid: 3, mails: 1 })
    expect(points).toBeGreaterThan(15)
  })

  test.each(['before', 'unanswered'] as const)(
    'agent-2: ends the same after a crash %s every ledger call, model call and mail; only the interrupted call is paid again, and each was reserved',
    async (position) => {
      const { points } = await play(null)
      let again = 0
      for (let point = 0; point < points; point++) {
        const { world, status, died, reserved } = await play({ point, position })
        const seen = { point, status, mails: world.mails.length, extra: world.paid > 4 }
        expect(seen).toEqual({ point, status: 'success', mails: 1, extra: false })
        if (world.paid === 4) again++
        expect(reserved).toBeGreaterThanOrEqual(world.paid)
        expect(died).toBe(true)
      }
      // Each model call at most once more: its answer was lost, or the append that would have stored it.
      expect(again).toBe(3)
    },
  )
})
