/** [A3] Rehearsals of a manifest without any code: what is reached, what is not, and why. */
import { describe, expect, test } from 'vitest'
import { isComplete, type Rehearsal } from '#manifest/simulate/report.ts'
import { loadManifest } from '#manifest/yaml/load.ts'
import { type RehearsalOptions, rehearse } from './rehearse.ts'

const DEFAULTS: RehearsalOptions = { seed: 1, paths: 'all', humans: 'all', maxRuns: 500 }

const play = async (text: string, options: Partial<RehearsalOptions> = {}): Promise<Rehearsal> => {
  const { manifest, findings } = loadManifest(text)
  if (manifest === null) throw new Error(JSON.stringify(findings.filter(({ level }) => level === 'error')))
  return rehearse(manifest, { ...DEFAULTS, ...options })
}

const CAMPAIGN = `
product: {name: lead-campaign}
events:
  - {name: lead.enriched, source: external, payload: {lead_id: string!, score: number!}}
  - {name: lead.matched, payload: {lead_id: string!, confidence: number}}
  - {name: draft.ready, payload: {lead_id: string!}}
  - {name: campaign.approved, source: human, after: draft.ready, payload: {lead_id: string!}}
  - {name: campaign.rejected, source: human, after: draft.ready}
  - {name: mail.sent, payload: {lead_id: string!, kind: {type: string, enum: [hot, cold, other]}}}
  - {name: lead.hot, terminal: true}
  - {name: lead.cold, terminal: true}
  - {name: lead.lost, terminal: true}
  - {name: report.due}
  - {name: report.read, terminal: true}
agents:
  - name: matcher
    trigger: {event: lead.enriched, filter: score > 3 and lead_id != "x"}
    contract: {output_schema: {type: object, properties: {confidence: {type: number, minimum: 0, maximum: 1}}}}
    emits:
      - {event: lead.matched, when: output.confidence > 0.99}
      - {event: lead.lost, when: output.confidence <= 0.5, delay: 3d}
functions:
  - {name: draft, trigger: lead.matched, emits: draft.ready, state_out: drafted}
  - {name: send, trigger: campaign.approved, emits: mail.sent, effect: once, state_out: sent}
  - {name: bury, trigger: campaign.rejected}
  - {name: sort, trigger: {event: mail.sent, route_on: payload.kind, routes: {hot: lead.hot, cold: lead.cold}}}
  - {name: audit, trigger: {after: send}}
  - {name: report, trigger: report.due}
humans:
  - {name: read-report, task_type: review, trigger: report.due, actions: [approve, {name: read, emits_event: report.read}]}
schedules: [{name: daily, cron: "0 3 * * *", emit: report.due, tz: UTC}]
state_machine:
  entity: lead
  initial: new
  states: [{name: new, transitions_to: [drafted]}, {name: drafted, transitions_to: [sent]}, {name: sent, terminal: true}]
`

describe('[A3] a rehearsal', () => {
  test('reaches every event, handler, action, route and state', async () => {
    const rehearsal = await play(CAMPAIGN)
    expect({ ...rehearsal, runs: 0 }).toMatchObject({
      handlers: { missed: [] },
      events: { missed: [] },
      actions: { missed: [] },
      routes: { reached: ['sort:hot', 'sort:cold'], missed: [] },
      states: { reached: ['lead.new', 'lead.drafted', 'lead.sent'], missed: [] },
      ...{ unproduced: [], loops: [], failures: [] },
    })
    expect(rehearsal.handlers.reached).toHaveLength(9)
    expect(isComplete(rehearsal)).toBe(true)
  })

  test('gives the same report for the same seed', async () =>
    expect(await play(CAMPAIGN, { seed: 7 })).toEqual(await play(CAMPAIGN, { seed: 7 })))

  test('reports the events that no handler sends if an emit is missing', async () => {
    const rehearsal = await play(CAMPAIGN.replace('emits: draft.ready, ', ''))
    expect(rehearsal.unproduced).toEqual(['draft.ready'])
    expect(isComplete(rehearsal)).toBe(false)
  })

  test('says why a handler was not reached', async () => {
    const rehearsal = await play(`
product: {name: s}
events: [{name: a.b, source: external, payload: {n: number!}}, c.d]
functions:
  - {name: never, trigger: {event: a.b, filter: payload.n > 3 && payload.n < 2}}
  - {name: off, trigger: a.b, enabled: false}
  - {name: shy, trigger: a.b, emits: [{event: c.d, when: output.n > 3 && output.n < 2}]}
  - {name: deaf, trigger: c.d}
`)
    expect(rehearsal.handlers.missed).toEqual([
      { name: 'never', why: 'no data was found for payload.n > 3 && payload.n < 2' },
      { name: 'off', why: 'it is switched off' },
      { name: 'deaf', why: 'c.d was not sent' },
    ])
    expect(rehearsal.events.missed).toEqual([
      { name: 'c.d', why: 'no answer was found for output.n > 3 && output.n < 2' },
    ])
  })

  test('gives related events the same correlation key, whichever handler sends them', async () => {
    const rehearsal = await play(`
product: {name: s}
events:
  - {name: order.placed, source: external, payload: {order_id: string!}}
  - {name: order.paid, payload: {order_id: string!}}
  - {name: order.packed, payload: {order_id: string!}}
  - {name: order.sent, terminal: true}
functions:
  - {name: pay, trigger: order.placed, emits: order.paid}
  - {name: pack, trigger: order.placed, emits: order.packed}
  - name: ship
    pattern: fan-in
    trigger: {event: order.paid, wait_for: [order.packed], correlation_key: payload.order_id, timeout: 1d}
    emits: order.sent
`)
    expect([rehearsal.handlers.missed, rehearsal.events.missed, rehearsal.failures]).toEqual([[], [], []])
  })

  test('stops a loop and reports it', async () => {
    const { loops, runs } = await play(`
product: {name: s}
events: [{name: ping.sent, source: external}, pong.sent]
functions: [{name: ping, trigger: pong.sent, emits: ping.sent}, {name: pong, trigger: ping.sent, emits: pong.sent}]
`)
    expect(loops).toEqual(['pong on ping.sent'])
    expect(runs).toBeLessThan(20)
  })

  test('with one path and one decision reports the others as missed', async () => {
    const { actions, routes } = await play(CAMPAIGN, { paths: 'first', humans: 'reject' })
    expect(actions.reached).toContain('after-draft-ready:reject')
    expect(actions.missed).toContainEqual({ name: 'after-draft-ready:approve', why: 'no simulated person chose it' })
    expect(routes.missed).toHaveLength(2)
  })

  test('begins with a given event and its data', async () => {
    const { handlers } = await play(CAMPAIGN, { event: 'mail.sent', data: { lead_id: 'a', kind: 'hot' } })
    expect(handlers.reached).toEqual(['sort'])
  })

  test('reaches every handler of a manifest with fifty events and forty handlers without code, and has no errors', async () => {
    const events = Array.from(
      { length: 50 },
      (_, i) =>
        `  - {name: thing.n${i}, source: ${i < 10 ? 'external' : 'machine'}, payload: {thing_id: uuid!, n: {type: number, min: 0, max: 9}}}`,
    )
    const hands = Array.from(
      { length: 30 },
      (_, i) => `  - {name: f${i}, trigger: {event: thing.n${i}, filter: n > ${i % 9}}, emits: thing.n${i + 10}}`,
    )
    const agents = Array.from(
      { length: 10 },
      (_, i) => `  - {name: a${i}, trigger: thing.n${i + 30}, emits: thing.n${i + 40}}`,
    )
    const text = `product: {name: large}\nevents:\n${events.join('\n')}\nfunctions:\n${hands.join('\n')}\nagents:\n${agents.join('\n')}\n`
    const rehearsal = await play(text)
    expect(rehearsal.handlers.missed).toEqual([])
    expect(rehearsal.failures).toEqual([])
  })
})

/** A manifest with features of real ones: each of them was once not reached, or ended the rehearsal. */
const MORE = `
product: {name: more}
events:
  - {name: meter.read, source: external, payload: {level: {type: integer, required: true}, seats: any, text: string}}
  - {name: meter.judged, payload: {confidence: {type: number, minimum: 0, max: 1}}}
  - {name: meter.reminded, terminal: true}
functions:
  - {name: by-flag, trigger: {event: meter.read, route_on: payload.level > 0, routes: {"true": flag.up, "false": flag.down}}}
  - {name: by-level, trigger: {event: meter.read, route_on: payload.level, routes: {1: level.low, 2: level.high}, default_route: level.odd}}
  - {name: many-seats, trigger: {event: meter.read, filter: int(payload.seats) > 100}}
  - {name: judge, trigger: meter.read, emits: meter.judged, output_schema: {type: object, properties: {confidence: {type: number, minimum: 50}}}}
  - {name: remind, trigger: meter.read, emits: [{event: meter.reminded, delay: 3d}], cancel_on: [{event: flag.up}]}
  - {name: hear, triggers: [flag.up, flag.down, level.low, level.high, level.odd]}
`

test('[A3] a rehearsal reaches routes over flags and numbers, default routes, conversions, bounds and handlers that would be cancelled (15.1.2)', async () => {
  const { events, handlers, routes, failures } = await play(MORE)
  expect([events.missed, handlers.missed, routes.missed, failures]).toEqual([[], [], [], []])
})
