/** What `cancelOn` and `cancel_on` mean, and what is refused. */
import { describe, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { loadManifest } from '#manifest/yaml/load.ts'
import { sourceOf } from '#manifest/yaml/source.ts'
import type { CancelSource } from '#model/event/cancel-on.ts'
import { normalise } from './define.ts'

const rulesOf = (cancelOn: readonly CancelSource[]) =>
  normalise({ name: 's', functions: [fn('f', { cancelOn }, () => null)] }, (text) => text).functions.get('f')?.cancelOn

describe('cancelOn', () => {
  test('lets steps finish and has no timeout by default', () => {
    expect(rulesOf([{ event: 'a.b', match: 'payload.id' }])).toEqual([
      { event: 'a.b', match: 'payload.id', condition: null, timeoutMs: null, mode: 'between_steps' },
    ])
    expect(rulesOf([{ event: 'a.b', if: 'payload.x > 1', timeout: '5m', mode: 'abort' }])).toEqual([
      { event: 'a.b', match: null, condition: 'payload.x > 1', timeoutMs: 300_000, mode: 'abort' },
    ])
  })

  test.each([
    [[{ event: 'A B' }], 'MANIFEST_INVALID'],
    [[{ event: 'a.b', match: 'payload.id', if: 'true' }], 'MANIFEST_INVALID'],
    [[{ event: 'a.b', if: '((' }], 'EXPR_REJECTED'],
    [[{ event: 'a.b', mode: 'later' as 'abort' }], 'MANIFEST_INVALID'],
    [Array.from({ length: 11 }, () => ({ event: 'a.b' })), 'MANIFEST_INVALID'],
  ])('%j is refused', (sources, code) => {
    expect(() => rulesOf(sources)).toThrow(expect.objectContaining({ code }))
  })

  test('[A2] in a manifest it applies to every kind of handler, and lint no longer says that it has no effect', () => {
    const { manifest, findings } = loadManifest(`
product: {name: s}
events: [{name: a.b, source: external}, {name: a.c, source: external}, a.d]
functions:
  - {name: f, trigger: a.b, emits: a.d, cancel_on: [{event: a.c, match: payload.id}, {event: a.d}]}
humans: [{name: h, task_type: approval, trigger: a.b, cancel_on: [{event: a.c}]}]
`)
    if (manifest === null) throw new Error(JSON.stringify(findings))
    expect(findings.filter(({ code }) => code === 'LINT_NOT_USED' || code === 'LINT_EVENT_UNHEARD')).toEqual([])
    const { functions } = normalise(
      sourceOf(manifest, { code: new Map(), schemas: new Map(), transforms: new Map(), scripts: {} }),
      (text) => text,
    )
    expect(functions.get('f')?.cancelOn[0]).toMatchObject({ event: 'a.c', match: 'payload.id' })
    expect(functions.get('h')?.cancelOn[0]).toMatchObject({ event: 'a.c', match: null })
  })
})
