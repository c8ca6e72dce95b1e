/** Triggers as they are written: their normal form, and what is refused. */
import { describe, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { WatchTrigger } from '#model/event/watch.ts'
import { normalise } from './define.ts'

const define = (trigger: WatchTrigger) =>
  normalise({ name: 'x', functions: [fn('f', { trigger }, () => 1), fn('g', {}, () => 1)] }, (text) => text)

const sourceOf = (trigger: WatchTrigger) => [...define(trigger).sources.values()][0]

describe('a source', () => {
  test('[L4] of a signal has the signal as its name', () => {
    expect(sourceOf({ signal: 'SIGHUP' })).toEqual({ kind: 'signal', name: 'signal:SIGHUP', signal: 'SIGHUP' })
  })

  test('of a file settles for 200 ms and reports all changes by default; other options make it another source', () => {
    expect(sourceOf({ file: 'a/*.csv' })).toMatchObject({ name: 'file:a/*.csv', settleMs: 200 })
    expect(sourceOf({ file: ['a', 'b'], on: 'removed' })).toMatchObject({
      name: 'file:a,b [on=removed]',
      on: ['removed'],
    })
  })

  test('of a table never shows the password of its database', () => {
    const { name } = sourceOf({ table: 'orders', database: 'postgres://me:secret@host/db' }) ?? { name: '' }
    expect(name).toBe('table:postgres://host/db#orders')
  })

  test('of a condition reads the values that its expressions name', () => {
    const trigger = {
      condition: 'queue.g.length > table.max.n',
      rearm: 'queue["g"].length < 2 && session.on',
      session: 's',
    }
    const reads = { max: { table: 'limits', key: 'g' } }
    expect(sourceOf({ ...trigger, reads })).toMatchObject({
      everyMs: 5_000,
      policy: { edge: 'rising', forMs: 0, pauseMs: 0, hasRearmRule: true },
      needs: { handlers: ['g'], documents: reads, session: { id: 's', keys: ['on'] } },
    })
    expect(sourceOf({ condition: 'runs.queued > 1', rearm: '5m' })).toMatchObject({
      policy: { pauseMs: 300_000, hasRearmRule: false },
    })
  })

  test('is shared by two functions that declare the same one', () => {
    const functions = ['a', 'b'].map((name) => fn(name, { trigger: { file: 'x' } }, () => 1))
    const { sources, listeners } = normalise({ name: 'x', functions }, (text) => text)
    expect([sources.size, listeners.get('trihand.file.changed')?.length]).toEqual([1, 2])
  })
})

test.each<[string, WatchTrigger]>([
  ['SIGUSR1 starts the debugger', { signal: 'SIGUSR1' }],
  ['SIGTERM asks the process to stop', { signal: 'SIGTERM' }],
  ['SIGINT asks the process to stop', { signal: 'SIGINT' }],
  ['cannot be listened to', { signal: 'SIGKILL' }],
  ['expected a path', { file: '' }],
  ['"moved" is not one of', { file: 'a', on: 'moved' as never }],
  ['expected 20 ms to', { file: 'a', settle: 1 }],
  ['is not the name of a table', { table: 'a; drop table b', database: 'x' }],
  ['expected a SQLite file', { table: 'a', database: '' }],
  ['expected one of rising', { condition: 'runs.queued > 1', edge: 'up' as never }],
  ['it is a time, not an expression', { condition: 'runs.queued > 1', edge: 'level', rearm: 'runs.queued < 1' }],
  ['name the session', { condition: 'session.a > 1' }],
  ['name the document', { condition: 'table.a.b > 1' }],
  ['expected 100 ms', { condition: 'runs.queued > 1', every: 1 }],
  ['write it in one line', { condition: 'runs.queued >\n 1' }],
  ['at most 200 characters', { condition: `runs.queued > 1${' '.repeat(200)}` }],
  ['"done" is not one of', { after: 'g', status: 'done' as never }],
])('[L4] a trigger that cannot work is refused: %s', (detail, trigger) => {
  expect(() => define(trigger)).toThrow(
    expect.objectContaining({ code: 'MANIFEST_INVALID', detail: expect.stringContaining(detail) }),
  )
})

test('a condition that is not an expression, or reads something else, is refused with its place', () => {
  for (const condition of ['runs.queued >', 'payload.n > 1'])
    expect(() => define({ condition })).toThrow(expect.objectContaining({ code: 'EXPR_REJECTED' }))
})
