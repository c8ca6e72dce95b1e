/** Keys and names of any length and any characters, through the interfaces for people and programs (issue 14.7). */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { human } from '#manifest/human/humans.ts'
import { Inbox, person } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

/** A text that no store can compress. */
const noise = (length: number): string => {
  let state = 7
  const next = (): string => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return String.fromCharCode(48 + (state >>> 26))
  }
  return Array.from({ length }, next).join('')
}

const LONG = noise(10_000)
const TEXTS: readonly (readonly [string, string])[] = [
  ['of 10 KB', LONG],
  ['of 10 KB with a NUL character', `${LONG}\u0000`],
  ['of 10 KB with a lone surrogate', `${LONG}\ud83d`],
  ['of 10 KB of other scripts', '語😀'.repeat(3_000)],
]

onEveryStore('keys of any length', (store) => {
  test.each(TEXTS)('[H1] a concurrency key %s limits its runs to one at a time (14.7)', async (_, key) => {
    let [atWork, most] = [0, 0]
    const work = fn('work', { trigger: 'asked', concurrency: [{ limit: 1, key: 'payload.key' }] }, async ({ step }) => {
      await step.run('count', async () => {
        most = Math.max(most, ++atWork)
        await Promise.resolve()
        atWork--
      })
    })
    const system = await startTestSystem({ name: 'keys', events: { asked: null }, functions: [work] }, store())
    const runs = [await system.start('work', { key }), await system.start('work', { key })]
    const { runs: told } = await system.send({ type: 'asked', data: { key } })
    await system.settle()
    for (const run of [...runs, ...told]) expect(await system.look(run)).toMatchObject({ status: 'success' })
    expect(most).toBe(1)
    await system.close()
  })

  test.each(TEXTS)('[H2] idempotency, debounce, throttle, fairness and batch take a key %s (14.7)', async (_, key) => {
    const of = { key: 'payload.key' }
    const functions = [
      fn('once', { idempotency: { ...of, ttl: '1d' } }, () => 'done'),
      fn('late', { debounce: { ...of, period: '5s' } }, () => 'done'),
      fn('slow', { throttle: { ...of, limit: 1, period: '5s' } }, () => 'done'),
      fn('fair', { fairness: { key: 'payload.key' } }, () => 'done'),
      fn('many', { batch: { ...of, maxSize: 2, maxWait: '5s' } }, () => 'done'),
    ]
    const system = await startTestSystem({ name: 'keys', functions }, store())
    const runs = []
    for (const { name } of functions) runs.push(await system.start(name, { key }), await system.start(name, { key }))
    await system.advance('1m')
    const looked = await Promise.all(runs.map((run) => system.look(run)))
    expect(runs[0]).toBe(runs[1])
    for (const one of looked) expect(['success', 'cancelled']).toContain(one.status)
    expect(looked.filter(({ status }) => status === 'success').length).toBeGreaterThanOrEqual(7)
    await system.close()
  })

  test.each(TEXTS)('[E8] a run that waits for an event with the value %s gets it (14.7)', async (_, key) => {
    const wait = fn('wait', {}, async ({ step }) => {
      const got = await step.waitForEvent('answer', { event: 'answered', match: 'key' })
      return got === null ? 'none' : 'got it'
    })
    const system = await startTestSystem({ name: 'keys', events: { answered: null }, functions: [wait] }, store())
    const [first, second] = [await system.start('wait', { key }), await system.start('wait', { key: 'other' })]
    await system.settle()
    await system.send({ type: 'answered', data: { key } })
    await system.settle()
    expect(await system.look(first)).toMatchObject({ status: 'success', output: 'got it' })
    expect(await system.look(second)).toMatchObject({ status: 'waiting' })
    await system.close()
  })

  test.each(TEXTS)(
    '[R7] a document with a key %s fails its step with INPUT_INVALID, and the run ends (14.7)',
    async (_, key) => {
      const write = fn('write', { retry: { maxAttempts: 1 } }, async ({ step }) => {
        await step.run('put', ({ write: put }) => put('customer', key, { ok: true }))
      })
      const system = await startTestSystem({ name: 'keys', functions: [write] }, store())
      const run = await system.start('write', {})
      await system.settle()
      expect(await system.look(run)).toMatchObject({ status: 'failed', error: { code: 'INPUT_INVALID' } })
      await system.close()
    },
  )

  test('[R7] a document with a key of 700 characters of three bytes is kept (14.7)', async () => {
    const key = '語'.repeat(700)
    const write = fn('write', {}, async ({ step }) => {
      await step.run('put', ({ write: put }) => put('c'.repeat(128), key, { ok: true }))
    })
    const system = await startTestSystem({ name: 'keys', functions: [write] }, store())
    const run = await system.start('write', {})
    await system.settle()
    expect(await system.look(run)).toMatchObject({ status: 'success' })
    await system.close()
  })

  test.each(TEXTS)(
    '[E2] an event with the subject %s fails the step that sends it, and is refused from outside (14.7)',
    async (_, subject) => {
      const tell = fn('tell', { retry: { maxAttempts: 1 } }, async ({ step }) => {
        await step.emit('say', { type: 'said', data: {}, subject })
      })
      const system = await startTestSystem({ name: 'keys', events: { said: null }, functions: [tell] }, store())
      const run = await system.start('tell', {})
      await system.settle()
      expect(await system.look(run)).toMatchObject({ status: 'failed', error: { code: 'EVENT_INVALID' } })
      for (const name of ['subject', 'id', 'source'])
        await expect(system.send({ type: 'said', data: {}, [name]: subject })).rejects.toThrow('EVENT_INVALID')
      await system.close()
    },
  )

  test.each(TEXTS)('[C1] a task with the title %s is asked and shown (14.7)', async (_, title) => {
    const ask = human('ask', { trigger: 'wanted', assign: 'group:editors', title: '{{payload.title}}' })
    const system = await startTestSystem({ name: 'keys', events: { wanted: null }, humans: [ask] }, store())
    const inbox = new Inbox(system)
    const { runs } = await system.send({ type: 'wanted', data: { title } })
    await system.settle()
    await inbox.decide(await inbox.only(), person('ana', 'editors'), { action: 'approve' })
    await system.settle()
    for (const run of runs) expect(await system.look(run)).toMatchObject({ status: 'success' })
    await system.close()
  })

  test.each(TEXTS)(
    '[C1] a task for a person whose name is %s fails its run with INPUT_INVALID (14.7)',
    async (_, who) => {
      const ask = human('ask', { trigger: 'wanted', assign: { rule: 'payload.who', fallback: 'editors' } })
      const system = await startTestSystem({ name: 'keys', events: { wanted: null }, humans: [ask] }, store())
      const { runs } = await system.send({ type: 'wanted', data: { who } })
      await system.settle()
      for (const run of runs)
        expect(await system.look(run)).toMatchObject({ status: 'failed', error: { code: 'INPUT_INVALID' } })
      await system.close()
    },
  )
})
