/** What a function of a manifest declares around its code, as the engine receives it. */
import { expect, test } from 'vitest'
import { normalise } from '#manifest/define/define.ts'
import { loadManifest } from './load.ts'
import { sourceOf } from './source.ts'

const TEXT = `
product: {name: shop}
events: [order.placed, order.paid, mail.came]
functions:
  - name: score
    trigger: order.placed
    allowed_operations: [transform, emit_event, schedule]
    emits:
      - {event: lead.hot, when: output.score > 80, delay: 3d}
      - {event: lead.lost, on: failure}
  - name: ship
    pattern: fan-in
    fan_in: {primary: order.placed, wait_for: [order.paid], correlation_key: payload.id, timeout: 1h, collect: last}
  - name: triage
    pattern: routing
    trigger: mail.came
    routing: {route_on: payload.mood, routes: {angry: {emit: mail.angry, then: score}}, default_route: {emit: mail.calm}}
`

test('[A2][A6] conditions, delays, operations, routes and fan-ins of a manifest reach the engine', () => {
  const { manifest, findings } = loadManifest(TEXT)
  expect(findings.filter(({ level }) => level === 'error')).toEqual([])
  if (manifest === null) throw new Error('it did not load')
  const { functions, listeners } = normalise(sourceOf(manifest), (text) => text)
  const [score, ship, triage] = ['score', 'ship', 'triage'].map((name) => functions.get(name))
  expect([...(score?.workflow.operations ?? [])]).toEqual(['transform', 'emit_event', 'schedule'])
  expect(score?.workflow.emits).toMatchObject([
    { event: 'lead.hot', on: 'success', delayMs: 259_200_000, when: { text: 'output.score > 80' } },
    { event: 'lead.lost', on: 'failure' },
  ])
  expect(ship?.workflow.fanIn).toEqual({
    primary: 'order.placed',
    types: ['order.placed', 'order.paid'],
    timeoutMs: 3_600_000,
    collect: 'last',
  })
  expect(listeners.get('order.paid')?.map(({ handler }) => handler.name)).toEqual(['ship'])
  expect(triage?.workflow.routing?.routes.get('angry')).toEqual({ emit: 'mail.angry', calls: ['score'] })
  expect(triage?.workflow.routing?.otherwise).toEqual({ emit: 'mail.calm', calls: [] })
})
