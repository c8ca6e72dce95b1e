/** What functions declare around their code: emits with conditions, operations, documents before and after, routes, states. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { executor } from '#executors/registry.ts'
import { type FunctionOptions, fn, type Handler } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { partial } from '#model/run/partial.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

type Options = Partial<FunctionOptions<Json>>

const told = async (system: TestSystem): Promise<readonly unknown[]> => {
  const events = await system.store.reader.events({ tenant: LOCAL_TENANT, type: null, before: null, limit: 100 })
  return events
    .filter(({ type }) => !type.startsWith('trihand.'))
    .map(({ type, data }) => [type, data])
    .reverse()
}

onEveryStore('workflow', (store) => {
  /** The function under test, started by a call. */
  const play = async (options: Options, code: Handler | null, input: Json = {}, rest: Partial<SystemSource> = {}) => {
    const work = fn('work', { retry: { maxAttempts: 1 }, ...options }, code)
    const system = await startTestSystem(
      { name: 'w', ...rest, functions: [work, ...(rest.functions ?? [])] } as SystemSource,
      store(),
    )
    const run = await system.start('work', input)
    await system.settle()
    return { system, run, seen: await system.look(run) }
  }

  const SCORED: Options = {
    emits: [
      { event: 'lead.hot', when: 'output.score > 80', data: { id: '{{ payload.id }}', score: '{{ output.score }}' } },
      { event: 'lead.cold', when: 'output.score <= 80' },
    ],
  }

  test('[A6] a declared event is sent when its condition is true, with the data of its declaration', async () => {
    const hot = await play(SCORED, () => ({ score: 93 }), { id: 'a' })
    expect(await told(hot.system)).toEqual([['lead.hot', { id: 'a', score: 93 }]])
    await hot.system.close()
    const cold = await play(SCORED, () => ({ score: 7, why: 'x' }), { id: 'a' })
    expect(await told(cold.system)).toEqual([['lead.cold', { score: 7, why: 'x' }]])
    await cold.system.close()
  })

  test('[A6] an emit without data has the members that its event declares, from the output, then from the trigger', async () => {
    const events = { 'lead.done': z.object({ id: z.string(), score: z.number() }) }
    const { system } = await play({ emits: ['lead.done'] }, () => ({ score: 1, x: 2 }), { id: 'a', y: 3 }, { events })
    expect(await told(system)).toEqual([['lead.done', { id: 'a', score: 1 }]])
    await system.close()
    const lacking = await play({ emits: ['lead.done'] }, () => ({ x: 2 }), { id: 'a' }, { events })
    expect(lacking.seen).toMatchObject({ status: 'failed', error: { code: 'EVENT_INVALID' } })
    await lacking.system.close()
  })

  test('[A6] what the code sends replaces the emit; an event that is not listed fails the function, wherever it is sent', async () => {
    const own = await play({ emits: ['a.one', 'a.two'] }, ({ emit }) => emit('a.two', { n: 2 }))
    expect(await told(own.system)).toEqual([['a.two', { n: 2 }]])
    await own.system.close()
    const many = await play({ emits: ['a.one', 'a.two'] }, () => ({}))
    expect(await told(many.system)).toEqual([])
    await many.system.close()
    const ways: readonly Handler[] = [
      ({ emit }) => emit('b.other'),
      ({ step }) => step.emit('tell', { type: 'b.other' }),
      ({ step }) => step.run('tell', ({ emit }) => emit('b.other', {})),
    ]
    for (const way of ways) {
      const { system, seen } = await play({ emits: ['a.one'] }, way, {}, { open: true })
      expect(seen).toMatchObject({ status: 'failed', error: { code: 'EMIT_NOT_DECLARED' } })
      expect(await told(system)).toEqual([])
      await system.close()
    }
  })

  test('[A6] an event that a step has sent counts as sent, also when the function is entered again', async () => {
    const { system } = await play({ emits: ['a.one'] }, async ({ step }) => {
      await step.run('tell', ({ emit }) => emit('a.one', { by: 'step' }))
      await step.sleep('rest', '1h')
      return { by: 'declaration' }
    })
    await system.crash()
    await system.advance('2h')
    expect(await told(system)).toEqual([['a.one', { by: 'step' }]])
    await system.close()
  })

  test('[A6] a condition that cannot be evaluated fails the run; the effects of its steps remain', async () => {
    let done = 0
    const { seen, system, run } = await play({ emits: [{ event: 'a.one', when: 'output.missing > 1' }] }, ({ step }) =>
      step.run('pay', () => ({ paid: ++done })),
    )
    expect(seen).toMatchObject({ status: 'failed', error: { code: 'EXPR_FAILED' } })
    await system.run(() => system.engine.retry(run, 'ana'))
    await system.settle()
    expect(done).toBe(1)
    await system.close()
  })

  test('[A6] a delayed event is not visible before its time, is sent once across a crash, and can be cancelled', async () => {
    const heard: unknown[] = []
    const hear = fn('hear', { trigger: 'mail.follow_up' }, ({ input }) => void heard.push(input))
    const { system, run } = await play(
      { emits: [{ event: 'mail.follow_up', delay: '3d' }] },
      () => ({ to: 'ana' }),
      {},
      { functions: [hear] },
    )
    expect((await system.look(run)).status).toBe('success')
    await system.advance('71h')
    expect([await told(system), heard]).toEqual([[], []])
    await system.crash()
    await system.advance('2h')
    expect(heard).toEqual([{ to: 'ana' }])
    await system.start('work')
    await system.settle()
    const waiting = await system.store.reader.runs({
      tenant: LOCAL_TENANT,
      status: 'queued',
      handler: 'trihand.later',
      before: null,
      limit: 5,
    })
    for (const { id } of waiting) await system.run(() => system.engine.cancel(id, 'ana', 'not any more'))
    await system.advance('4d')
    expect([waiting.length, heard.length]).toEqual([1, 1])
    await system.close()
  })

  test('[A6] a failure, a timeout and a cancel send what is declared for them, once, with the run that ended', async () => {
    const emits = (['failure', 'timeout', 'cancelled'] as const).map((on) => ({ event: `work.${on}`, on }))
    const failed = await play({ emits }, () => {
      throw new Error('no')
    })
    expect(await told(failed.system)).toEqual([
      ['work.failure', { run_id: failed.run, error: { code: 'FUNCTION_FAILED', message: 'no' } }],
    ])
    await failed.system.run(() => failed.system.engine.retry(failed.run, 'ana'))
    await failed.system.settle()
    expect(await told(failed.system)).toHaveLength(2)
    await failed.system.close()
    const late = await play({ emits, deadline: { finish: '1m' } }, ({ step }) => step.sleep('long', '1h'))
    await late.system.advance('2m')
    expect(await told(late.system)).toMatchObject([['work.timeout', { error: { code: 'RUN_DEADLINE' } }]])
    await late.system.close()
    const stopped = await play({ emits }, ({ step }) => step.sleep('long', '1h'))
    await stopped.system.run(() => stopped.system.engine.cancel(stopped.run, 'ana', 'enough'))
    await stopped.system.settle()
    expect(await told(stopped.system)).toMatchObject([['work.cancelled', { run_id: stopped.run }]])
    await stopped.system.close()
  })

  test('[E3] a function may return a partial result, which counts as a success for callers that wait', async () => {
    const { system, seen } = await play({ emits: [{ event: 'a.some', on: 'partial' }] }, () => partial({ n: 3 }))
    expect(seen).toMatchObject({ status: 'partial', output: { n: 3 } })
    expect(await told(system)).toEqual([['a.some', { n: 3 }]])
    await system.close()
  })

  test('[A1] operations that are not declared are refused when they would happen', async () => {
    const outcome = async (allowedOperations: readonly string[], code: Handler) => {
      const { system, run } = await play(
        { allowedOperations },
        code,
        {},
        {
          open: true,
          executors: [executor('robot', { execute: async () => ({ status: 'success', result: 1 }) })],
        },
      )
      // The template language is loaded by the first template, so the test waits for it.
      const seen = await system.run(() => system.engine.result(run, { waitMs: 60_000 }))
      await system.close()
      return seen.status === 'success' ? 'done' : seen.error?.code
    }
    const emits: Handler = ({ emit }) => emit('x.y')
    const delays: Handler = ({ emit }) => emit('x.y', {}, { delay: '1m' })
    const writes: Handler = ({ step }) => step.run('w', ({ write }) => write('t', '1', {}))
    const calls: Handler = ({ step }) => step.execute('c', { type: 'robot', task: {} })
    const renders: Handler = ({ step }) => step.execute('r', { type: 'template_engine', task: { template: 'x' } })
    for (const [operation, code] of [
      ['emit_event', emits],
      ['db_write', writes],
      ['api_call', calls],
    ] as const) {
      expect(await outcome(['transform'], code)).toBe('OPERATION_NOT_ALLOWED')
      expect(await outcome(['transform', operation], code)).toBe('done')
    }
    expect(await outcome(['emit_event'], delays)).toBe('OPERATION_NOT_ALLOWED')
    expect(await outcome(['emit_event', 'schedule'], delays)).toBe('done')
    expect(await outcome([], renders)).toBe('done')
  })

  test('[A1] declarations allow the operations that they need, and no others', async () => {
    const { system, seen } = await play({ emits: ['a.one'] }, ({ step }) =>
      step.run('w', ({ write }) => write('t', '1', {})),
    )
    expect(seen).toMatchObject({ status: 'failed', error: { code: 'OPERATION_NOT_ALLOWED' } })
    await system.close()
  })

  test('[A1] declared-1: input is checked, documents are read before the code and recorded, others are written with its result', async () => {
    const seen: Json[] = []
    const options: Options = {
      validateInput: { payload: ['id'] },
      dbLookups: [{ table: 'lead', key: 'payload.id', as: 'lead' }],
      persist: [
        { insert: 'score', values: { id: '{{ payload.id }}', score: '{{ output.score }}' } },
        { update: 'lead', set: { scored: true }, where: 'id = {{ payload.id }}' },
      ],
    }
    const seed = fn('seed', {}, ({ step }) => step.run('w', ({ write }) => write('lead', 'a', { name: 'Ana' })))
    const work = fn('work', options, async ({ lookups, step }) => {
      seen.push(lookups['lead'] as Json)
      await step.sleep('rest', '1h')
      return { score: 7 }
    })
    const system = await startTestSystem({ name: 'w', functions: [seed, work] }, store())
    await system.start('seed')
    await system.settle()
    const run = await system.start('work', { id: 'a' })
    const bad = await system.start('work', {})
    await system.crash()
    await system.advance('2h')
    expect((await system.look(run)).status).toBe('success')
    expect(await system.look(bad)).toMatchObject({ status: 'failed', error: { code: 'INPUT_INVALID' } })
    expect(new Set(seen.map((one) => JSON.stringify(one)))).toEqual(new Set(['{"name":"Ana"}']))
    const read = (table: string) => system.store.reader.document(LOCAL_TENANT, table, 'a')
    expect(await read('score')).toEqual({ id: 'a', score: 7 })
    expect(await read('lead')).toEqual({ name: 'Ana', scored: true })
    await system.close()
  })

  test('[A1] a route is chosen by value: it sends the same data on and calls the named handler; no route is a failure', async () => {
    const heard: unknown[] = []
    const hear = fn('hear', { trigger: 'mail.angry' }, ({ input }) => void heard.push(input))
    const answer = fn('answer', {}, ({ input }) => ({ answered: input }))
    const calling = Object.fromEntries([['then', ['answer']]])
    const routing = { routeOn: 'payload.mood', routes: { angry: { emit: 'mail.angry' }, '7': calling } }
    const functions = [hear, answer]
    const angry = await play({ routing }, null, { mood: 'angry' }, { functions })
    expect(heard).toEqual([{ mood: 'angry' }])
    await angry.system.close()
    const seven = await play({ routing }, null, { mood: 7 }, { functions })
    expect(seven.seen.output).toEqual({ route: '7', results: [{ answered: { mood: 7 } }] })
    await seven.system.close()
    const none = await play({ routing }, null, { mood: 'calm' }, { functions })
    expect(none.seen).toMatchObject({ status: 'failed', error: { code: 'ROUTE_UNMATCHED' } })
    await none.system.close()
    const otherwise = { ...routing, defaultRoute: { emit: 'mail.angry' } }
    const calm = await play({ routing: otherwise }, null, { mood: 'calm' }, { functions })
    expect(calm.seen.status).toBe('success')
    await calm.system.close()
  })

  test('[A9] a chain of events without a person runs to its end by itself, without switching a mode', async () => {
    const step = (name: string, trigger: string, event: string) =>
      fn(name, { trigger, emits: [event] }, ({ input }) => input)
    const system = await startTestSystem(
      {
        name: 'chain',
        events: { 'lead.found': null },
        functions: [
          step('enrich', 'lead.found', 'lead.enriched'),
          step('match', 'lead.enriched', 'lead.matched'),
          step('draft', 'lead.matched', 'mail.drafted'),
        ],
      },
      store(),
    )
    await system.send({ type: 'lead.found', data: { id: 'a' } })
    await system.settle()
    expect(await told(system)).toEqual(
      ['lead.found', 'lead.enriched', 'lead.matched', 'mail.drafted'].map((type) => [type, { id: 'a' }]),
    )
    await system.close()
  })

  const ORDERS = {
    entity: 'order',
    key: 'payload.id',
    initial: 'new',
    states: [
      { name: 'new', transitionsTo: ['paid'] },
      { name: 'paid', transitionsTo: ['sent'] },
      { name: 'sent', terminal: true },
    ],
  }

  for (const enforce of ['strict', 'warn'] as const)
    test(`[A1] declared-2: an entity moves only along its machine, and where it is ${enforce} a wrong move is ${enforce === 'strict' ? 'refused' : 'noted'}`, async () => {
      const mover = (name: string, stateIn: string, stateOut: string) => fn(name, { stateIn, stateOut }, () => name)
      const system = await startTestSystem(
        {
          name: 'orders',
          stateMachines: [{ ...ORDERS, enforce }],
          functions: [mover('pay', 'new', 'paid'), mover('send', 'paid', 'sent'), mover('jump', 'new', 'sent')],
        },
        store(),
      )
      const go = async (name: string) => {
        const run = await system.start(name, { id: '7' })
        await system.settle()
        const { status, error } = await system.look(run)
        const kept = (await system.store.reader.document(LOCAL_TENANT, 'state:order', '7')) as { state: string } | null
        return [status === 'success' ? 'done' : error?.code, kept?.state ?? null]
      }
      const refused = enforce === 'strict' ? 'STATE_TRANSITION_INVALID' : 'done'
      expect(await go('jump')).toEqual([refused, null])
      expect(await go('pay')).toEqual(['done', 'paid'])
      expect(await go('pay')).toEqual([refused, 'paid'])
      expect(await go('send')).toEqual(['done', 'sent'])
      expect(await go('send')).toEqual([refused, 'sent'])
      await system.close()
    })
})
