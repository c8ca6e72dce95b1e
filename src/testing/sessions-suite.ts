/**
 * What every Reader returns about sessions and about the cost of models.
 *
 * Part of the reader suite. Written through the Ledger of the same store.
 */
import { expect, test } from 'vitest'
import { LOCAL_TENANT, type RunId, type SessionId, type TenantId } from '#model/kernel/ids.ts'
import type { ModelCallQuery, Reader } from '#ports/reader.ts'
import { aCreation, aFact, newRun, newSession, START } from '#testing/ledger/builders.ts'
import type { LedgerHarness } from '#testing/ledger/harness.ts'

const OTHER_TENANT = 'other' as TenantId
const SESSION = { status: 'session', wakeAt: null } as const

export const sessionsSuite = (harness: LedgerHarness, reader: () => Reader): void => {
  const create = async (create: { readonly session?: SessionId; readonly createdAt?: number } = {}) => {
    const id = newSession()
    await harness.written({ writes: [aCreation(id, { handler: 'session', ...create }, SESSION)] })
    return id
  }
  const listed = async (before: SessionId | null = null, limit = 9): Promise<readonly SessionId[]> =>
    (await reader().sessions({ tenant: LOCAL_TENANT, before, limit })).map(({ id }) => id)

  test('sessions are listed newest first, page by page, and runs are not among them', async () => {
    const [a, b, c] = [await create(), await create({ createdAt: START + 1 }), await create({ createdAt: START + 1 })]
    await harness.createRun()
    expect(await listed()).toEqual([c, b, a])
    expect(await listed(null, 2)).toEqual([c, b])
    expect(await listed(b, 2)).toEqual([a])
    expect(await listed(a)).toEqual([])
  })

  test('a fork names its base, and the base lists its forks', async () => {
    const base = await create()
    const fork = await create({ session: base })
    expect(await reader().session(LOCAL_TENANT, fork)).toEqual({ id: fork, base, version: 1, createdAt: START })
    expect((await reader().forks(LOCAL_TENANT, base)).map(({ id }) => id)).toEqual([fork])
    expect(await reader().forks(LOCAL_TENANT, fork)).toEqual([])
    expect(await reader().session(LOCAL_TENANT, newSession())).toBeNull()
  })

  test('the facts and the runs of a session are read page by page', async () => {
    const [session, facts] = [newSession(), [aFact(), aFact(), aFact()]]
    await harness.written({ writes: [aCreation(session, {}, { ...SESSION, facts })] })
    const page = await reader().facts(LOCAL_TENANT, session, { after: 1, limit: 1 })
    expect(page.map(({ hash }) => hash)).toEqual([facts[1]?.hash])
    const runs: RunId[] = [newRun(), newRun(), newRun()]
    for (const run of runs) await harness.written({ writes: [aCreation(run, { session })] })
    await harness.createRun()
    const of = async (before: RunId | null) =>
      (await reader().sessionRuns({ tenant: LOCAL_TENANT, session, before, limit: 2 })).map(({ id }) => id)
    expect(await of(null)).toEqual([runs[2], runs[1]])
    expect(await of(runs[1] ?? null)).toEqual([runs[0]])
  })

  test('[S9] another tenant sees no session', async () => {
    const id = await create()
    expect(await reader().sessions({ tenant: OTHER_TENANT, before: null, limit: 9 })).toEqual([])
    expect(await reader().session(OTHER_TENANT, id)).toBeNull()
    expect(await reader().facts(OTHER_TENANT, id, { after: 0, limit: 9 })).toEqual([])
    expect(await reader().sessionRuns({ tenant: OTHER_TENANT, session: id, before: null, limit: 9 })).toEqual([])
  })

  test('facts with possible model costs are found by their time, in order, page by page', async () => {
    const reply = (at: number) => aFact({ recordedAt: at, body: `{"step":"agent/model[0]","at":${at}}` })
    const used = (at: number) => aFact({ recordedAt: at, body: `{"result":{"value":{"modelUsed":"m"}},"at":${at}}` })
    const other = aFact({ recordedAt: START + 2, type: 'step.failed', body: '{"modelUsed":"m"}' })
    const [a, b] = [newRun(), newRun()]
    await harness.written({ writes: [aCreation(a, { handler: 'a' }, { facts: [aFact(), used(START + 3), other] })] })
    await harness.written({ writes: [aCreation(b, { handler: 'b' }, { facts: [reply(START + 1), reply(START + 5)] })] })
    const calls = (query: Partial<ModelCallQuery> = {}) =>
      reader().modelCalls({ tenant: LOCAL_TENANT, from: START, to: START + 9, after: null, limit: 9, ...query })
    const shown = async (query: Partial<ModelCallQuery> = {}) =>
      (await calls(query)).map(({ run, seq, handler, fact }) => [run, seq, handler, fact.recordedAt - START])
    expect(await shown()).toEqual([
      [b, 0, 'b', 1],
      [a, 1, 'a', 3],
      [b, 1, 'b', 5],
    ])
    expect(await shown({ from: START + 3, to: START + 5 })).toEqual([[a, 1, 'a', 3]])
    const [first] = await calls({ limit: 1 })
    expect(await shown({ after: first ?? null, limit: 1 })).toEqual([[a, 1, 'a', 3]])
    expect(await shown({ tenant: OTHER_TENANT })).toEqual([])
  })
}
