/** A closing process answers every waiting caller: with the written result, or with a reason to ask another process. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createTrihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { freshSchema } from '#test/support/stores/postgres-schema.ts'

const CALLERS = 2_000
const cluster = process.env['TRIHAND_TEST_PG_URL']
const system = {
  name: 'closing',
  events: { tick: null },
  functions: [fn('gated', { throttle: { limit: 10_000, period: '1s' } }, () => null), fn('plain', {}, () => null)],
}

const place = async (kind: string): Promise<string> => {
  if (kind === 'postgres') {
    const { url, drop } = await freshSchema(cluster ?? '')
    onTestFinished(drop)
    return url
  }
  const folder = mkdtempSync(join(tmpdir(), 'trihand-closing-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'ledger.db')
}

describe.each(['sqlite', 'postgres'])('callers on %s', (kind) => {
  test.skipIf(kind === 'postgres' && cluster === undefined)(
    'a closing process answers everyone in its queues (14.2)',
    async () => {
      const cluster = process.env['TRIHAND_TEST_PG_URL']
      if (kind === 'postgres' && cluster === undefined) return
      const app = await createTrihand({ system, database: await place(kind), drain: 0 })
      const session = await app.sessions.create()
      const asks = [
        (): Promise<unknown> => app.start('gated'),
        (): Promise<unknown> => app.start('plain'),
        (n: number): Promise<unknown> => app.send({ type: 'tick', data: { n } }),
        (n: number): Promise<unknown> => app.sessions.remember(session, `k${n}`, n),
      ]
      const ask = (_: unknown, n: number): Promise<string> =>
        (asks[n % asks.length] as (typeof asks)[number])(n).then(
          () => 'done',
          (error: unknown) => (error instanceof TrihandError ? error.code : String(error)),
        )
      const calls = Array.from({ length: CALLERS }, ask)
      await calls[0]
      const closing = app.close()
      const late = Array.from({ length: 4 }, ask)
      const answers = new Set(await Promise.all([...calls, ...late]))
      await closing
      const after = new Set(await Promise.all(Array.from({ length: 4 }, ask)))
      const known = ['done', 'SHUTTING_DOWN', 'LEDGER_UNAVAILABLE']
      expect([...answers, ...after].filter((one) => !known.includes(one))).toEqual([])
      expect([answers.has('done'), after.has('done')]).toEqual([true, false])
    },
  )
})
