/** What only people may send: events of their decisions, functions started by those, and programs that try to send or start them. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { defineSystem, type SystemSource } from '#manifest/define/define.ts'
import { human } from '#manifest/human/humans.ts'
import { loadManifest } from '#manifest/yaml/load.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { ana, Inbox, robot } from '#test/support/serving/inbox.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof TrihandError ? error.code : String(error)),
  )

const codeOfDefinition = (source: SystemSource): string => {
  try {
    defineSystem(source)
    return 'defined'
  } catch (error) {
    return error instanceof TrihandError ? `${error.code} ${error.place?.path ?? ''}` : String(error)
  }
}

const REVIEW = human('review', {
  trigger: 'letter.ready',
  assign: 'ana',
  actions: [{ name: 'approve', emitsEvent: 'letter.approved' }, 'reject'],
})

/** A letter that ana approves, a budget that a person sends without a task, and functions that try to send both. */
const letters = () => {
  const did: string[] = []
  const code = (name: string) => () => void did.push(name)
  const source: SystemSource = {
    name: 'letters',
    events: {
      'letter.ready': null,
      'letter.approved': null,
      'budget.stated': { source: 'human' },
      'note.added': { source: 'human', open: true },
      forge: null,
    },
    humans: [REVIEW],
    functions: [
      fn('publish', { trigger: 'letter.approved' }, code('publish')),
      fn('open-publish', { trigger: 'letter.approved', internal: false }, code('open-publish')),
      fn('book', { trigger: 'budget.stated' }, code('book')),
      fn('file', { trigger: 'note.added' }, code('file')),
      fn('nightly', { trigger: 'letter.ready', internal: true }, code('nightly')),
      fn('ship', { trigger: 'approval_bundle.approved' }, code('ship')),
      fn('enact', { trigger: 'trihand.plan.approved' }, code('enact')),
      fn('forger', { trigger: 'forge', retry: { maxAttempts: 1 } }, ({ input, emit }) =>
        emit((input as { type: string }).type),
      ),
      fn('late-forger', { retry: { maxAttempts: 1 } }, ({ emit }) => emit('letter.approved', {}, { delay: '1h' })),
      fn('asker', { retry: { maxAttempts: 1 } }, ({ step }) =>
        step.human('ask', {
          assign: 'ana',
          deadline: '1m',
          autoActionOnTimeout: 'approve',
          actions: [{ name: 'approve', emitsEvent: 'letter.approved' }],
        }),
      ),
      fn('caller', { retry: { maxAttempts: 1 } }, ({ step }) => step.invoke('call', 'publish', {})),
    ],
  }
  return { did, source }
}

const failureOf = async (system: TestSystem, run: RunId): Promise<string | undefined> =>
  (await system.look(run)).error?.code

onEveryStore('human-only', (store) => {
  test('human-only-1: [C5] the event of a decision comes from that decision, and from no program or person besides it (13.1.2)', async () => {
    const { did, source } = letters()
    const system = await startTestSystem(source, store())
    const approved = { type: 'letter.approved', data: {} }
    expect(await codeOf(system.send(approved))).toBe('EVENT_HUMAN_ONLY')
    expect(await codeOf(system.send(approved, { by: ana }))).toBe('EVENT_HUMAN_ONLY')
    const { runs } = await system.send({ type: 'forge', data: { type: 'letter.approved' } })
    const late = await system.start('late-forger')
    const asker = await system.start('asker')
    await system.settle()
    await system.advance('2h')
    for (const run of [runs[0] as RunId, late, asker]) expect(await failureOf(system, run)).toBe('EVENT_HUMAN_ONLY')
    expect(did).toEqual([])
    await system.send({ type: 'letter.ready', data: {} })
    await system.settle()
    const inbox = new Inbox(system)
    await inbox.decide(await inbox.only(), ana, { action: 'approve' })
    await system.settle()
    expect(did.toSorted()).toEqual(['nightly', 'open-publish', 'publish'])
    await system.close()
  })

  test('human-only-2: an event of source human without a task comes from a named person (13.1.2)', async () => {
    const { did, source } = letters()
    const system = await startTestSystem(source, store())
    const stated = { type: 'budget.stated', data: {} }
    expect(await codeOf(system.send(stated))).toBe('EVENT_HUMAN_ONLY')
    expect(await codeOf(system.send(stated, { by: robot }))).toBe('EVENT_HUMAN_ONLY')
    const { runs } = await system.send({ type: 'forge', data: { type: 'budget.stated' } })
    await system.settle()
    expect(await failureOf(system, runs[0] as RunId)).toBe('EVENT_HUMAN_ONLY')
    await system.send(stated, { by: ana })
    await system.send({ type: 'note.added', data: {} })
    await system.settle()
    expect(did.toSorted()).toEqual(['book', 'file'])
    await system.close()
  })

  test('internal-1: an internal function starts by its triggers alone; a function with a human-only trigger is internal (13.1.2)', async () => {
    const { did, source } = letters()
    const system = await startTestSystem(source, store())
    for (const name of ['publish', 'book', 'nightly', 'ship', 'enact'])
      expect([name, await codeOf(system.start(name))]).toEqual([name, 'FUNCTION_INTERNAL'])
    const caller = await system.start('caller')
    await system.settle()
    expect(await failureOf(system, caller)).toBe('FUNCTION_INTERNAL')
    expect(await codeOf(system.start('trihand.later', { type: 'forge', data: {}, subject: null }))).toBe('NOT_FOUND')
    await system.start('open-publish')
    await system.start('file')
    await system.settle()
    expect(did.toSorted()).toEqual(['file', 'open-publish'])
    await system.close()
  })
})

onEveryStore('names of senders', (store) => {
  test('human-only-3: [C5] no sender can use the id of a future decision event to prevent that decision (13.1.2)', async () => {
    const { did, source } = letters()
    const system = await startTestSystem(source, store())
    await system.send({ type: 'letter.ready', data: {} })
    await system.settle()
    const inbox = new Inbox(system)
    const task = await inbox.only()
    const names = Array.from({ length: 9 }, (_, version) =>
      ['letter.approved', 'human.decided'].map((type) => `${task}/${version}/${type}`),
    ).flat()
    const takes = names.map((id) => system.send({ type: 'letter.ready', id, source: 'human:review', data: {} }))
    expect(new Set(await Promise.all(takes.map(codeOf)))).toEqual(new Set(['EVENT_RESERVED']))
    for (const own of [
      'human:review',
      'trihand',
      'agent:a',
      'workflow:publish',
      'run:publish',
      'schedule:nightly',
      'queue:q',
    ])
      for (const by of [{}, { by: ana }])
        expect([own, await codeOf(system.send({ type: 'letter.ready', id: 'mine', source: own }, by))]).toEqual([
          own,
          'EVENT_RESERVED',
        ])
    for (const other of ['trihand.example', 'humans', 'https://a.example/human:x'])
      expect([
        other,
        await codeOf(system.send({ type: 'forge', data: { type: 'note.added' }, source: other })),
      ]).toEqual([...[other, 'done']])
    await inbox.decide(task, ana, { action: 'approve' })
    await system.settle()
    expect(did.filter((name) => name === 'publish')).toEqual(['publish'])
    await system.close()
  })
})

test('a definition that lets a program send a human-only event, or start an internal function, is refused (13.1.2)', () => {
  const base = { name: 's', events: { 'letter.ready': null }, humans: [REVIEW] }
  const refused = (more: Partial<SystemSource>) => codeOfDefinition({ ...base, ...more })
  expect(refused({ functions: [fn('f', { emits: ['letter.approved'] }, () => null)] })).toBe(
    'EVENT_HUMAN_ONLY functions.f.emits.0',
  )
  expect(refused({ webhooks: [{ name: 'w', auth: 'none', unsigned: true, emits: 'letter.approved' }] as never })).toBe(
    'EVENT_HUMAN_ONLY webhooks.w.emits',
  )
  expect(refused({ schedules: [{ name: 'n', every: '1h', emit: 'letter.approved' }] as never })).toBe(
    'EVENT_HUMAN_ONLY schedules.n.emit',
  )
  const publish = fn('publish', { trigger: 'letter.approved' }, () => null)
  expect(refused({ functions: [publish] })).toBe('defined')
  const call = Object.fromEntries([['then', 'publish']])
  const routed = fn('r', { routing: { routeOn: 'payload.a', routes: { x: call } } } as never, null as never)
  expect(refused({ functions: [publish, routed] })).toBe('FUNCTION_INTERNAL functions.r.routing.routes.x')
  const planned = fn('p', { plan: { steps: [{ id: 'a', assignedTo: 'publish' }] } } as never, null as never)
  expect(refused({ functions: [publish, planned] })).toBe('FUNCTION_INTERNAL functions.p.plan.steps.a')
  expect(codeOfDefinition({ name: 's', events: { a: { open: true } } })).toBe('MANIFEST_INVALID events.a.open')
})

test('a manifest reports line and column of each program that would send what a person decides (13.1.2)', () => {
  const text = `product: {name: p}
events:
  definitions:
    - {name: draft.ready, source: external}
    - {name: draft.approved, source: human, after: draft.ready}
    - {name: budget.stated, source: human}
    - {name: note.added, source: human, open: true}
functions:
  - name: forge
    trigger: draft.ready
    emits: [draft.approved, note.added]
  - name: send
    trigger: draft.approved
    internal: false
agents:
  - name: writer
    triggers: [draft.ready]
    instructions: write
    emits:
      - event: budget.stated
webhooks:
  - name: hook
    auth: none
    unsigned: true
    emits: budget.stated
`
  const { manifest, findings } = loadManifest(text)
  expect(manifest).toBeNull()
  const errors = findings.filter(({ level }) => level === 'error')
  expect(errors.map(({ code, path, line, column }) => `${code} ${path} ${line}:${column}`)).toEqual([
    'EVENT_HUMAN_ONLY functions.forge.emits.0 11:13',
    'EVENT_HUMAN_ONLY agents.writer.emits.0 20:9',
    'EVENT_HUMAN_ONLY webhooks.hook.emits 25:12',
  ])
})
