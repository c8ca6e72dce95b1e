/** `subscribe` of a running system, on a real ledger: each topic tells its listener, until the subscription ends; the old verbs still do. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Observer } from '#engine/core/observers.ts'
import { type HeldModel, heldModel } from '#test/support/agents/held-model.ts'
import {
  agent,
  type Change,
  createTrihand,
  fn,
  type RunId,
  type RunNotice,
  type TokenChunk,
  type Trihand,
} from '../../../src/index.ts'

const NOTHING = (): void => {}
const counting = (appended: () => void): Observer => ({
  ...{ appended, ranOn: NOTHING, wrote: NOTHING, refused: NOTHING },
  ...{ performed: NOTHING, woke: NOTHING, recovered: NOTHING, failed: NOTHING },
})

const system = {
  name: 'press',
  events: { go: null, note: null },
  agents: [agent('writer', { instructions: 'Write.', trigger: 'go', limits: { maxRetries: 1 } })],
  functions: [fn('keep', { trigger: 'note' }, () => 'kept')],
}

describe.each(['memory', 'SQLite'])('subscribe, on %s', (store) => {
  let folder: string
  let model: HeldModel
  let app: Trihand

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'trihand-subscribe-'))
    model = heldModel()
    const database = store === 'memory' ? 'memory:' : join(folder, 'press.db')
    app = await createTrihand({ system, database, folder, agents: { models: model }, commands: false })
  })
  afterEach(async () => {
    await app.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** One run of the agent, whose model says two pieces; `listen` subscribes to them. */
  const writeOnce = async (listen: (run: RunId) => void): Promise<RunId> => {
    const calls = model.calls.length
    const { runs } = await app.send({ type: 'go' })
    const run = runs[0] as RunId
    const call = await model.call(calls + 1)
    listen(run)
    call.say('Dear ')
    call.end('Ana')
    expect(await app.result(run)).toMatchObject({ status: 'success', output: 'Dear Ana' })
    return run
  }

  test('each topic tells its listener what is committed, and nothing after its end', async () => {
    const notices: RunNotice[] = []
    const changes: Change[] = []
    const chunks: TokenChunk[] = []
    let appends = 0
    const ends = [
      app.subscribe('runs', (notice) => notices.push(notice)),
      app.subscribe('changes', (change) => changes.push(change)),
      app.subscribe(
        'metrics',
        counting(() => appends++),
      ),
    ]
    const run = await writeOnce((of) => ends.push(app.subscribe('tokens', (chunk) => chunks.push(chunk), { run: of })))
    expect(notices.at(-1)).toMatchObject({ run, handler: 'writer', status: 'success' })
    expect(changes.some(({ streams }) => streams.includes(run))).toBe(true)
    expect(changes.reduce((sum, { events }) => sum + events, 0)).toBeGreaterThan(0)
    expect(chunks.map(({ text }) => text).join('')).toBe('Dear Ana')
    expect(chunks.every((chunk) => chunk.run === run)).toBe(true)
    expect(appends).toBe(changes.length)

    for (const end of [...ends, ...ends]) end()
    const before = [notices.length, changes.length, chunks.length, appends]
    await writeOnce(NOTHING)
    expect([notices.length, changes.length, chunks.length, appends]).toEqual(before)
  })

  test('the deprecated verbs call it', async () => {
    const heard = new Set<string>()
    const ends = [
      app.on(() => heard.add('runs')),
      app.watch(() => heard.add('changes')),
      app.observe(counting(() => heard.add('metrics'))),
    ]
    await writeOnce((run) => ends.push(app.listen(run, () => heard.add('tokens'))))
    expect([...heard].sort()).toEqual(['changes', 'metrics', 'runs', 'tokens'])
    for (const end of ends) end()
    heard.clear()
    await writeOnce(NOTHING)
    expect(heard.size).toBe(0)
  })

  test('a tenant hears its own runs', async () => {
    const acme = await app.of('acme' as typeof app.tenant)
    const heard: RunId[] = []
    acme.subscribe('runs', ({ run }) => heard.push(run))
    const own = await acme.send({ type: 'note' })
    const other = await app.send({ type: 'note' })
    await acme.result(own.runs[0] as RunId, { wait: 10_000 })
    await app.result(other.runs[0] as RunId)
    expect([...new Set(heard)]).toEqual(own.runs)
  })

  test('a topic that does not exist, or tokens of no run, is refused', () => {
    const untyped = app.subscribe as unknown as (...asked: unknown[]) => unknown
    expect(() => untyped('run', NOTHING)).toThrow('"run" is not one of runs, changes, tokens, metrics')
    expect(() => untyped('tokens', NOTHING)).toThrow('tokens needs the run')
  })
})
