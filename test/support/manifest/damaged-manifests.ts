/**
 * Damaged manifests and their invariant: loading ends, with findings that have a code, a place and a remedy.
 *
 * Owns the damage: by lines, by tokens, by characters, by shape. Used by the property test beside the loader and by the stage `fuzz`.
 */
import fc from 'fast-check'
import { declarationsOf } from '#manifest/define/declarations.ts'
import { graphOf } from '#manifest/define/graph.ts'
import { mermaidOf } from '#manifest/define/mermaid.ts'
import { MANIFEST } from '#manifest/yaml/check/sections.ts'
import type { Shape } from '#manifest/yaml/check/shape.ts'
import { type Finding, hintOf } from '#manifest/yaml/finding.ts'
import { type LoadedManifest, loadManifest } from '#manifest/yaml/load.ts'

export const BASE = `product: {name: shop, version: 2.0}
defaults: {tz: Europe/Berlin, model: haiku, retry: {max_attempts: 2}}
events:
  namespace: shop
  definitions:
    - {name: order.placed, source: external, payload: {id: string!, total: {type: number, min: 0}, tags: "string[]"}}
    - {name: order.paid, payload: [id]}
    - {name: order.approved, source: human, after: order.paid}
agents:
  - name: judge
    triggers: [{event: order.placed, filter: total > 3 and not (payload.id == "x")}]
    emits: [{event: order.paid, when: output.ok, delay: 5m, data: {id: "{{payload.id}}"}}]
    config: {model: opus, allowed_tools: [Read], subagents: [{name: helper, tools: [Bash]}]}
    contract:
      output_schema: {type: object, properties: {ok: {type: boolean}, confidence: {type: number}}}
      context_in: {static: [{source: "rules/{kind}.md", dest: r.md}]}
    limits: {max_tokens: 1000, max_retries: 2}
    escalation_rules: [{condition: agent.confidence < 0.6, escalate_to: human}]
functions:
  ship:
    trigger: shop/order.approved
    internal: false
    emits: order.shipped
    retries: 3
    rateLimit: {limit: 3, period: 10s, key: payload.id}
    circuit: {window: 20, codes: [EXECUTOR_FAILED]}
    state_in: paid
  read: {source: {queue: letters, batch: 5}, mode: daemon}
  nightly: {trigger: {cron: "0 3 * * *", schedule: every night}, concurrency: [{limit: 2, scope: handler}]}
  join: {trigger: {event: order.paid, wait_for: [order.shipped], correlation_key: payload.id, timeout: 1h}}
  sort: {trigger: {event: order.shipped, route_on: payload.kind, routes: {a: order.paid, b: {emit: order.placed}}}}
humans:
  - name: approve
    task_type: approval
    trigger: order.paid
    assign: {group: editors, rule: payload.id}
    bundle: {sections: [{id: facts, type: summary, content: {a: "{{payload.id}}"}}]}
    actions: [approve, {name: hold, emits_event: order.held, terminal: false}]
    deadline: 48h
    reminders: [24h]
    escalation: [{to: group:leads, deadline: 24h}]
queues:
  - {name: letters, max_length: 10, on_full: drop_oldest, visibility: 30s, max_attempts: 3}
plans:
  - name: p
    steps: [{subtask: {name: Draft, type: generation, assigned_to: automated}}, {id: b, type: email, requires: [draft]}]
  - name: q
    approve: auto
    steps:
      - {id: c, type: wait, wait_config: {until_event: order.paid, timeout: 1h}}
      - {id: d, type: approval, when: payload.n > 1, human_config: {assign: {rule: payload.id}, context: {a: "{{c.data}}"}}}
      - {id: e, assigned_to: ship, each: steps.d.output.items, trigger: "after:c", escalation_rules: [{condition: agent.confidence < 0.5}]}
  - {name: r, text: "a. Ship\\nb. Join (requires step a)"}
schedules: [{name: hourly, every: 1h, emit: order.placed, missed: {policy: skip}}]
crons: [{name: night, schedule: "0 3 * * *", function: nightly}]
webhooks: [{name: mail, emits: order.placed, secret: "\${SECRET}", transform: {id: "{{body.id}}"}}]
state_machine: {entity: order, initial: new, states: [{name: new, transitions_to: [paid]}, {name: paid, terminal: true}]}
modules: [{name: post, functions: [ship], allow: {operations: [api_call], hosts: [a.example]}}]
pools: [{name: eu, labels: {region: eu}, slots: 2}]
database: {tables: [{name: t, columns: [{name: id, type: uuid}], access: [{actor: a, condition: "id = :actor"}]}]}
integrations: {mail: {api_key: "\${KEY}"}}
limits: {max_hops: 16, shared: {mail: {limit: 3, period: 1s}}}
`

const isWhole = ({ code, line, column, hint, message }: Finding): boolean =>
  hintOf(code) !== '' && Math.min(line, column) >= 1 && hint !== '' && message !== ''

/** Loads the text and derives everything that can be made of it. Throws if the invariant is broken. */
export const survives = (text: string): LoadedManifest => {
  const loaded = loadManifest(text, 'manifest.yaml', {
    folder: { paths: ['functions/ship.ts'], read: () => '' },
    environment: new Set(),
  })
  const odd = loaded.findings.find((finding) => !isWhole(finding))
  if (odd !== undefined) throw new Error(`a finding lacks its code, its place or its way out: ${JSON.stringify(odd)}`)
  if (loaded.manifest !== null) {
    mermaidOf(graphOf(loaded.manifest, loaded.findings))
    declarationsOf(loaded.manifest)
  } else if (!loaded.findings.some(({ level }) => level === 'error')) throw new Error('refused without an error')
  return loaded
}

const NASTY = [
  '', 'null', '~', '[]', '{}', '-1', '0', '1e999', '.nan', '"', "'", '{{', '}}', '{{ x }}', '${', '*a', '&a x', '!!js x', '<<', '- ',
  ': ', '? ', '|', '>', '#', '%', '@', '`', '\t', '\u0000', '\u2028', '9'.repeat(400), 'a'.repeat(300), '__proto__', 'constructor',
  'toString', '0 0 30 2 *', '*/5 * * * *', 'P1D', '99999999d', '2026-01-01', '[[[[', 'true', 'name', 'event', 'trigger', 'x.y.z', '\n',
  '\n  ', '---', '...',
] as const // biome-ignore format: a list of words

export type Mutation = { readonly at: number; readonly kind: number; readonly what: number }

/** By lines, by tokens, by characters. */
export const mutate = (text: string, { at, kind, what }: Mutation): string => {
  const nasty = NASTY[what % NASTY.length] ?? ''
  const lines = text.split('\n')
  const line = at % lines.length
  const offset = at % (text.length + 1)
  switch (kind % 8) {
    case 0:
      return lines.filter((_, i) => i !== line).join('\n')
    case 1:
      return [...lines.slice(0, line), lines[what % lines.length] ?? '', ...lines.slice(line)].join('\n')
    case 2:
      return text.slice(0, offset) + nasty + text.slice(offset)
    case 3:
      return text.slice(0, offset) + text.slice(offset + (what % 12))
    case 4:
      return lines.map((one, i) => (i === line ? one.replace(/: [^,{}[\]]+/, `: ${nasty}`) : one)).join('\n')
    case 5:
      return lines.map((one, i) => (i === line ? one.replace(/[\w.]+/, nasty) : one)).join('\n')
    case 6:
      return lines.map((one, i) => (i === line ? `${' '.repeat(what % 6)}${one}` : one)).join('\n')
    default:
      return lines.map((one, i) => (i === line ? one.replaceAll(/\w+:/g, (key) => `x${key}`) : one)).join('\n')
  }
}

export const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(100_000),
  kind: fc.nat(7),
  what: fc.nat(10_000),
})

/** Values shaped like the sections, with anything in their places. */
const likeShape = (shape: Shape, depth: number): fc.Arbitrary<unknown> => {
  const odd = fc.constantFrom(
    null,
    0,
    -1,
    1.5,
    true,
    '',
    'a.b',
    'x',
    '30s',
    'payload.n > 1',
    [],
    {},
    ['a', 'b'],
    [[null]],
    { expr: '1' },
  )
  if (depth > 5) return odd
  switch (shape.is) {
    case 'record': {
      const keys = Object.keys(shape.fields)
      return fc.oneof(
        { weight: 1, arbitrary: odd },
        {
          weight: 5,
          arbitrary: fc.subarray(keys, { maxLength: Math.min(5, keys.length) }).chain((chosen) => {
            const all = [...new Set([...shape.required, ...chosen])]
            return fc.record(
              Object.fromEntries(all.map((key) => [key, likeShape(shape.fields[key] as Shape, depth + 1)])),
            )
          }),
        },
      )
    }
    case 'list':
      return fc.oneof(
        { weight: 1, arbitrary: odd },
        { weight: 4, arbitrary: fc.array(likeShape(shape.of, depth + 1), { maxLength: 3 }) },
      )
    case 'map':
      return fc.oneof(
        odd,
        fc.dictionary(fc.constantFrom('a', 'b.c', 'é', 'toString'), likeShape(shape.of, depth + 1), { maxKeys: 3 }),
      )
    case 'either':
      return fc.oneof(...shape.of.map((one) => likeShape(one, depth + 1)))
    case 'word':
      return fc.oneof(odd, fc.constantFrom(...shape.words))
    default:
      return fc.oneof(
        { weight: 1, arbitrary: odd },
        { weight: 2, arbitrary: fc.constantFrom('a', 'b', 'a.b', 'c.d', '30s', 'true', 'payload.a == 1') },
      )
  }
}

/** The first lines, without which nothing loads, and some of the sections: a part fails like the whole, and is faster. */
const partOf = (chosen: readonly number[]): string => {
  const [first = '', ...rest] = BASE.split(/\n(?=\w)/)
  return [first, ...chosen.map((at) => rest[at % rest.length] ?? '')].join('\n')
}

const damagedWhole = fc.array(mutation, { minLength: 1, maxLength: 4 }).map((all) => all.reduce(mutate, BASE))
const damagedPart = fc
  .tuple(fc.array(fc.nat(30), { minLength: 1, maxLength: 4 }), fc.array(mutation, { minLength: 1, maxLength: 3 }))
  .map(([chosen, all]) => all.reduce(mutate, partOf(chosen)))
// JSON is valid YAML.
const ofAnyShape = likeShape(MANIFEST, 0).map((value) => JSON.stringify(value))
const ofAnyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.array(fc.constantFrom(...NASTY)).map((all) => all.join(' ')),
)

export const DAMAGED: Readonly<Record<'whole' | 'part' | 'shape' | 'text', fc.Arbitrary<string>>> = {
  whole: damagedWhole,
  part: damagedPart,
  shape: ofAnyShape,
  text: ofAnyText,
}

/** The weights reflect how much each kind finds per second. */
export const damagedManifest: fc.Arbitrary<string> = fc.oneof(
  { weight: 2, arbitrary: damagedWhole },
  { weight: 5, arbitrary: damagedPart },
  { weight: 2, arbitrary: ofAnyShape },
  { weight: 1, arbitrary: ofAnyText },
)
