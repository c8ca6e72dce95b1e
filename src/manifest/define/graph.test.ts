/** [A3] The graph that a manifest declares, as data, as Mermaid, and as types. */
import { describe, expect, test } from 'vitest'
import { loadManifest } from '#manifest/yaml/load.ts'
import { declarationsOf } from './declarations.ts'
import { graphOf } from './graph.ts'
import { mermaidOf } from './mermaid.ts'

const CAMPAIGN = `
product: {name: campaign}
events:
  - {name: lead.enriched, source: external, description: "A lead */ with data", payload: {lead_id: string!, size: {type: string, enum: [s, m]}}}
  - {name: lead.matched, payload: {score: number!, tags: "string[]", note: }, additional: false}
  - {name: campaign.approved, source: human, after: lead.matched}
agents:
  - name: matcher
    trigger: {event: lead.enriched, filter: size == "s"}
    emits: [{event: lead.matched, when: output.score > 0.5, delay: 5m}]
    contract: {output_schema: {type: object, properties: {score: {type: number}}, required: [score]}}
functions:
  - {name: send, trigger: campaign.approved, internal: false}
  - {name: audit, trigger: {after: send}}
  - {name: bill, trigger: agent.completed, waits: [workflow.failed]}
  - {name: sort, trigger: {event: mail.came, route_on: payload.kind, routes: {a: lead.enriched, b: {then: send}}}}
schedules: [{name: nightly, cron: "0 3 * * *", function: send, tz: UTC}]
webhooks: [{name: mail, emits: mail.came, auth: none, unsigned: true}]
state_machine: {entity: lead, initial: new, states: [{name: new, transitions_to: [done]}, {name: done, terminal: true}]}
`

const { manifest, findings } = loadManifest(CAMPAIGN)
if (manifest === null) throw new Error(JSON.stringify(findings))
const graph = graphOf(manifest, findings)

describe('[A3] the graph', () => {
  test.each([
    ['event:lead.enriched', 'agent:matcher', 'hears', 'payload.size == "s"'],
    ['agent:matcher', 'event:lead.matched', 'sends', 'output.score > 0.5, after 5m'],
    ['event:lead.matched', 'human:after lead.matched', 'hears', ''],
    ['human:after lead.matched', 'event:campaign.approved', 'sends', ''],
    ['function:send', 'function:audit', 'starts', 'after'],
    ['function:sort', 'event:lead.enriched', 'sends', 'a'],
    ['agent:matcher', 'event:agent.completed', 'sends', 'lifecycle'],
    ['event:agent.completed', 'function:bill', 'hears', ''],
    ['function:send', 'event:workflow.failed', 'sends', 'lifecycle'],
    ['event:workflow.failed', 'function:bill', 'hears', 'waits'],
    ['function:sort', 'function:send', 'starts', ''],
    ['schedule:nightly', 'function:send', 'starts', '0 3 * * *'],
    ['webhook:mail', 'event:mail.came', 'sends', ''],
    ['state:lead.new', 'state:lead.done', 'moves', ''],
  ])('%s → %s', (from, to, kind, label) => expect(graph.edges).toContainEqual({ from, to, kind, label }))

  test('every end of an edge is a node, and handler nodes have their modality', () => {
    const ids = new Set(graph.nodes.map(({ id }) => id))
    expect(graph.edges.filter(({ from, to }) => !ids.has(from) || !ids.has(to))).toEqual([])
    expect(
      graph.nodes.filter(({ modality }) => modality !== null).map(({ name, modality }) => [name, modality]),
    ).toEqual([
      ['matcher', 'agent'],
      ['send', 'workflow'],
      ['audit', 'workflow'],
      ['bill', 'workflow'],
      ['sort', 'workflow'],
      ['after lead.matched', 'human'],
    ])
  })

  test('findings are attached to their node', () => {
    const { manifest: other, findings: found } = loadManifest(
      'product: {name: s}\nfunctions: [{name: f, trigger: a.b, emits: c.d}]',
    )
    if (other === null) throw new Error('it loads')
    const node = graphOf(other, found).nodes.find(({ name }) => name === 'f')
    expect(node?.findings).toEqual(
      ['LINT_EVENT_UNDECLARED', 'LINT_EVENT_UNPRODUCED', 'LINT_EVENT_UNHEARD', 'LINT_NOT_USED'].filter((code) =>
        node?.findings.includes(code),
      ),
    )
    expect(node?.findings).toContain('LINT_EVENT_UNHEARD')
  })
})

describe('[A3] Mermaid', () => {
  const text = mermaidOf(graph)

  test('draws each node and edge on its own line', () => {
    const lines = text.trimEnd().split('\n')
    expect(lines[0]).toBe('flowchart LR')
    expect(lines).toHaveLength(1 + graph.nodes.length + graph.edges.length + 3)
    expect(text).toContain('{{"matcher"}}:::agent')
  })

  test('[N9] a function of a module shows whether its code is isolated (15.2)', () => {
    const { manifest: modules } = loadManifest(`product: {name: s}
modules: [{name: m, functions: [a]}, {name: n, isolation: process, functions: [b]}]
functions: [{name: a}, {name: b}, {name: c}]
`)
    if (modules === null) throw new Error('it does not load')
    const drawn = graphOf(modules)
    expect(drawn.nodes.map(({ name, isolation }) => [name, isolation])).toEqual([
      ['a', 'none'],
      ['b', 'process'],
      ['c', null],
    ])
    expect(mermaidOf(drawn)).toMatch(/a \(not isolated\)[\s\S]*b \(isolated\)/)
  })

  test('no name can end a label or begin a directive', () => {
    const nasty = '"]; click x "javascript:alert(1)" %%{init}%% <script>'
    const drawn = mermaidOf({
      name: 'x',
      nodes: [{ id: 'a', kind: 'function', name: nasty, modality: 'workflow', findings: [], isolation: null }],
      edges: [{ from: 'a', to: 'a', kind: 'sends', label: nasty }],
    })
    expect(drawn.match(/"/g)).toHaveLength(4)
    expect(drawn).not.toMatch(/%%|<|"; click/)
  })
})

describe('[A4] types', () => {
  const text = declarationsOf(manifest)

  test.each([
    ['readonly "lead_id": string'],
    ['readonly "size"?: "s" | "m"'],
    ['readonly "tags"?: readonly (string)[]'],
    ['readonly "note"?: unknown'],
    ['readonly "mail.came": unknown'],
    ["readonly modality: 'agent'"],
    ['readonly input: Events["lead.enriched"]'],
    ['/** A lead * / with data */'],
  ])('are generated for %s', (line) => expect(text).toContain(line))

  test('a closed payload accepts no other field', () => expect(text.match(/\[key: string\]: unknown/g)).toHaveLength(2))
})
