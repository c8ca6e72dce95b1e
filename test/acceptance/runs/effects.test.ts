/** The three effect classes, and what happens when the outcome cannot be known. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { answerStep } from '#test/support/step-answer.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

/** A function with one `once` effect; `mode` says how the outside world behaves. */
const sender = (mode: { value: 'hang' | 'work' | 'refuse' | 'lose' }, sent: string[]) => ({
  name: 'send',
  functions: [
    fn('send', {}, ({ step }) =>
      step.run(
        'mail',
        ({ effectKey }) => {
          if (mode.value === 'hang') {
            sent.push(effectKey)
            return new Promise(() => {})
          }
          if (mode.value === 'lose') throw new Error('connection lost')
          sent.push(effectKey)
          return 'sent'
        },
        { effect: 'once', timeout: '5m' },
      ),
    ),
  ],
})

onEveryStore('effects', (store) => {
  for (const verdict of ['happened', 'run_again', 'abort'] as const) {
    test(`[R6][V10] attempt-2: a crash inside a once effect asks a person, who says ${verdict}`, async () => {
      const sent: string[] = []
      const mode = { value: 'hang' as 'hang' | 'work' }
      const system = await startTestSystem(sender(mode, sent), store())
      const run = await system.start('send')
      await system.settle()
      await system.crash()
      await system.advance('10d')
      expect(sent).toHaveLength(1)
      expect((await system.look(run)).status).toBe('waiting')
      mode.value = 'work'
      await system.run(() => answerStep(system.engine, run, 'mail', { verdict, by: 'ana', result: 'the receipt' }))
      await system.settle()
      const expected = { happened: 'the receipt', run_again: 'sent', abort: null }[verdict]
      expect(await system.look(run)).toMatchObject({
        status: verdict === 'abort' ? 'failed' : 'success',
        output: expected,
      })
      expect(sent).toHaveLength(verdict === 'run_again' ? 2 : 1)
      expect(new Set(sent).size).toBe(1)
      await system.close()
    })
  }

  test('[R6] a lost connection inside a once effect is unknown, not failed: no automatic retry', async () => {
    const sent: string[] = []
    const system = await startTestSystem(sender({ value: 'lose' }, sent), store())
    const run = await system.start('send')
    await system.advance('10d')
    expect((await system.look(run)).status).toBe('waiting')
    await expect(
      system.run(() => answerStep(system.engine, run, 'other', { verdict: 'abort', by: 'ana' })),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await system.close()
  })

  test.each(['once', 'transactional'] as const)(
    '[R6] a function with effect %s that calls a step inside fails with STEP_MISUSED, and asks nobody (14.1)',
    async (effect) => {
      const wrong = fn('wrong', { effect }, ({ step }) => step.run('inner', () => 'done'))
      const system = await startTestSystem({ name: 'misused', functions: [wrong] }, store())
      const run = await system.start('wrong')
      await system.settle()
      expect(await system.look(run)).toMatchObject({
        status: 'failed',
        error: { code: 'STEP_MISUSED', message: expect.stringContaining('cannot contain steps') },
      })
      await system.close()
    },
  )

  test('[R7][V16] a transactional effect is written with the result: once, also across a crash', async () => {
    let entered = 0
    const system = await startTestSystem(
      {
        name: 'rows',
        events: { 'row.written': null },
        functions: [
          fn('rows', {}, async ({ step }) => {
            await step.run(
              'write',
              ({ write, emit }) => {
                write('account', 'ana', { balance: 7 })
                write('account', 'old', null)
                emit('row.written', { id: 'ana' })
                return 'written'
              },
              { effect: 'transactional' },
            )
            await step.run('hang', () => (entered++ === 0 ? new Promise(() => {}) : 'done'))
            return 'ok'
          }),
          fn('hear', { trigger: 'row.written' }, ({ input }) => input),
        ],
      },
      store(),
    )
    await system.start('rows')
    await system.settle()
    await system.crash()
    await system.settle()
    expect(await system.store.reader.document(LOCAL_TENANT, 'account', 'ana')).toEqual({ balance: 7 })
    const events = await system.store.reader.events({
      tenant: LOCAL_TENANT,
      type: 'row.written',
      before: null,
      limit: 10,
    })
    expect(events).toHaveLength(1)
    const counts = await system.store.reader.counts(LOCAL_TENANT)
    expect(counts.get('success')).toBe(2)
    await system.close()
  })

  test('a function that is a single once step is never entered twice without a decision', async () => {
    let entered = 0
    const system = await startTestSystem(
      {
        name: 'whole',
        functions: [
          fn('whole', { effect: 'once' }, () => {
            entered++
            return new Promise(() => {})
          }),
          fn('inside', { effect: 'once' }, ({ step }) => step.run('x', () => 1)),
        ],
      },
      store(),
    )
    const run = await system.start('whole')
    const inside = await system.start('inside')
    await system.settle()
    await system.crash()
    await system.advance('1d')
    expect(entered).toBe(1)
    expect((await system.look(run)).status).toBe('waiting')
    await system.run(() => answerStep(system.engine, run, 'main', { verdict: 'happened', by: 'ana', result: 42 }))
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 42 })
    expect((await system.look(inside)).status).not.toBe('success')
    await system.close()
  })
})
