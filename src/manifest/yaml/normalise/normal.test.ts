/** [A2] Every row of the normalisation: whatever form was written, the system contains only the long form. */
import { describe, expect, test } from 'vitest'
import type { Finding } from '#manifest/yaml/finding.ts'
import { loadManifest } from '#manifest/yaml/load.ts'
import type { HandlerEntry, Manifest } from '#manifest/yaml/manifest.ts'
import { printManifest } from '#manifest/yaml/print.ts'

const loaded = (text: string): { readonly manifest: Manifest; readonly findings: readonly Finding[] } => {
  const { manifest, findings } = loadManifest(`product: {name: shop}\n${text}`)
  if (manifest === null) throw new Error(JSON.stringify(findings.filter(({ level }) => level === 'error')))
  return { manifest, findings }
}

const fn = (text: string): HandlerEntry => {
  const { manifest } = loaded(`events: [a.b, c.d]\nfunctions:\n  - name: f\n${text.replace(/^/gm, '    ')}`)
  return manifest.functions?.[0] as HandlerEntry
}

test('[A2] a section with only unknown keys is printed as text that loads to the same', () => {
  const { manifest } = loaded('events: [a.b]\nagents: [{name: judge, triggers: [a.b], limits: {max_rounds: 2}}]')
  expect(loadManifest(printManifest(manifest)).manifest).toEqual(manifest)
})

describe('[A2] lists and maps', () => {
  test.each([
    ['events: [a.b, {name: c.d}]', ['a.b', 'c.d']],
    ['events: {a.b: {description: x}, c.d: }', ['a.b', 'c.d']],
    ['events: {definitions: [a.b, {name: c.d}]}', ['a.b', 'c.d']],
    ['events: {namespace: shop, a.b: {}, c.d: {}}', ['a.b', 'c.d']],
    ['', []],
  ])('%s', (text, names) => expect(loaded(text).manifest.events.definitions.map(({ name }) => name)).toEqual(names))

  test.each(['agents', 'functions', 'humans', 'plans'] as const)(
    '%s written as a map become a list with names',
    (section) => {
      const { manifest } = loaded(`${section}:\n  first: {description: one}\n  second:\n`)
      expect(manifest[section]?.map(({ name }) => name)).toEqual(['first', 'second'])
    },
  )
})

describe('[A2] triggers', () => {
  test.each([
    ['trigger: a.b', [{ kind: 'event', event: 'a.b' }]],
    ['trigger: {event: a.b}', [{ kind: 'event', event: 'a.b' }]],
    ['trigger: {type: event, event: a.b}', [{ kind: 'event', event: 'a.b' }]],
    [
      'triggers: [a.b, {event: c.d, filter: payload.n > 1}]',
      [
        { kind: 'event', event: 'a.b' },
        { kind: 'event', event: 'c.d', filter: 'payload.n > 1' },
      ],
    ],
    ['trigger: manual', [{ kind: 'manual' }]],
    ['trigger: {signal: SIGHUP}', [{ kind: 'signal', signal: 'SIGHUP' }]],
    ['trigger: {file: "in/*.csv", on: added}', [{ kind: 'file', file: 'in/*.csv', on: 'added' }]],
  ])('%s', (text, triggers) => expect(fn(text).triggers).toEqual(triggers))

  test.each([
    ['trigger: {cron: "0 3 * * *", schedule: every night}'],
    ['trigger: {cron: every night, schedule: "0 3 * * *"}'],
  ])('%s: the one that parses is the expression, the other its description', (text) => {
    const { manifest } = loaded(`functions:\n  - name: f\n    ${text}\n`)
    expect(manifest.schedules).toEqual([{ name: 'f', cron: '0 3 * * *', description: 'every night', function: 'f' }])
    expect(manifest.functions?.[0]?.triggers).toEqual([])
  })

  test('a crons entry and a cron trigger that say the same are one schedule', () => {
    const { manifest, findings } = loaded(
      'functions:\n  - {name: f, trigger: {cron: "0 3 * * *"}}\ncrons:\n  - {name: night, schedule: "0 3 * * *", function: f}\n',
    )
    expect(manifest.schedules?.map(({ name }) => name)).toEqual(['night'])
    expect(findings.map(({ code, level, line }) => [code, level, line])).toContainEqual([
      'LINT_SCHEDULE_DUPLICATE',
      'warning',
      3,
    ])
  })

  test('two that differ are both kept, with a warning', () => {
    const { manifest, findings } = loaded(
      'functions:\n  - {name: f, trigger: {cron: "0 3 * * *"}}\ncrons:\n  - {name: f, schedule: "0 4 * * *", function: f}\n',
    )
    expect(manifest.schedules?.map(({ name, cron }) => [name, cron])).toEqual([
      ['f', '0 4 * * *'],
      ['f-2', '0 3 * * *'],
    ])
    expect(findings.map(({ code }) => code)).toContain('LINT_SCHEDULE_DUPLICATE')
  })

  test('the namespace of a declared event is removed, any other slash belongs to the name', () => {
    const { manifest } = loaded(
      'events: {namespace: shop, a.b: {}, shop/x: {}}\nfunctions:\n  - {name: f, triggers: [{event: shop/a.b}, shop/x], emits: [{event: shop/a.b, when: "true"}]}\n',
    )
    const [handler] = manifest.functions ?? []
    expect(handler?.triggers.map(({ event }) => event)).toEqual(['a.b', 'shop/x'])
    expect(handler?.emits?.map(({ event }) => event)).toEqual(['a.b'])
  })

  test.each([
    ['trigger: {event: a.b, wait_for: [c.d], correlation_key: payload.id, timeout: 1h}\npattern: fan-in'],
    ['trigger: {primary: a.b, wait_for: c.d, correlation_key: payload.id, timeout: 1h}\npattern: fan-in'],
    ['fan_in: {primary: a.b, wait_for: [c.d], correlation_key: payload.id, timeout: 1h}'],
  ])('a fan-in written as %s', (text) => {
    const handler = fn(text)
    expect(handler['fan_in']).toEqual({
      primary: 'a.b',
      wait_for: ['c.d'],
      correlation_key: 'payload.id',
      timeout: '1h',
    })
    expect(handler.triggers).toEqual([])
  })

  test('routes on a trigger, with only an event or with a handler that follows', () => {
    const handler = fn('trigger: {event: a.b, route_on: payload.kind, routes: {1: c.d, two: {emit: c.d, then: g}}}')
    expect(JSON.stringify(handler['routing'])).toBe(
      '{"route_on":"payload.kind","routes":{"1":{"emit":"c.d"},"two":{"emit":"c.d","then":"g"}}}',
    )
    expect(handler.triggers).toEqual([{ kind: 'event', event: 'a.b' }])
  })
})

describe('[A6] emits', () => {
  test.each([
    ['emit: c.d', [{ event: 'c.d', on: 'success' }]],
    [
      'emits: [a.b, c.d]',
      [
        { event: 'a.b', on: 'success' },
        { event: 'c.d', on: 'success' },
      ],
    ],
    [
      'emits: {event: c.d, when: output.ok, delay: 5m, on: always, data: {a: 1}}',
      [{ event: 'c.d', on: 'always', when: 'output.ok', delay: '5m', data: { a: 1 } }],
    ],
    ['emits:\n  c.d: {when: output.ok}', [{ event: 'c.d', on: 'success', when: 'output.ok' }]],
  ])('%s', (text, emits) => expect(fn(text).emits).toEqual(emits))
})

describe('[A2] retries, keywords and braces', () => {
  test.each([
    ['retries: 3', 4],
    ['max_retries: 3', 4],
    ['config: {retries: 3}', 4],
    ['config: {max_retries: 3}', 4],
    ['retry: {retries: 3}', 4],
    ['retry: 3', 4],
    ['retry: {max_attempts: 3}', 3],
  ])('%s', (text, attempts) => expect(fn(text)['retry']).toEqual({ max_attempts: attempts }))

  test('the timeout in config becomes the function’s', () =>
    expect(fn('config: {timeout: 30s}')['timeout']).toBe('30s'))

  test('an agent’s retries, workspace and artifacts', () => {
    const { manifest } = loaded(`
agents:
  - name: a
    limits: {max_retries: 2, max_tokens: 10}
    workspace: {base: "work/{lead_id}/{{payload.x}}"}
    contract:
      context_in: {static: [{source: "rules/{kind}.md", dest: rules.md}]}
      context_out: {artifacts: [plan.md, {file: b.md, persist_to: supabase_storage}]}
`)
    const agent = manifest.agents?.[0] ?? {}
    expect(agent).toMatchObject({
      retry: { max_attempts: 3 },
      limits: { max_tokens: 10 },
      workspace: { base: 'work/{{payload.lead_id}}/{{payload.x}}' },
      contract: {
        context_in: { static: [{ source: 'rules/{{payload.kind}}.md', dest: 'rules.md' }] },
        context_out: { artifacts: [{ file: 'plan.md' }, { file: 'b.md', persist_to: 'blob' }] },
      },
    })
  })

  test('a pattern by its older name, and a webhook behind a relay', () => {
    expect(fn('pattern: inngest-first-webhook')['pattern']).toBe('webhook')
    const { manifest } = loaded(
      `webhooks:\n  - {name: mail, routing: inngest-first, hookdeck: {path: /hooks/relay}, emits: [mail.came], secret: "\${S:-x}"}\n`,
    )
    expect(manifest.webhooks?.[0]).toMatchObject({ path: '/hooks/relay', emits: 'mail.came' })
  })

  test('both spellings of a key are the same key, and together an error', () => {
    expect(fn('rateLimit: {limit: 1, period: 10s}')['rate_limit']).toEqual({ limit: 1, period: '10s' })
    const { findings } = loadManifest(
      'product: {name: s}\nfunctions:\n  - name: f\n    rate_limit: {limit: 1, period: 10s}\n    rateLimit: {limit: 1, period: 10s}\n',
    )
    expect(findings[0]).toMatchObject({ code: 'MANIFEST_DUPLICATE_KEY', line: 5, column: 5 })
  })

  test('steps of a plan may be written as subtasks; automated means workflow', () => {
    const { manifest } = loaded(`
plans:
  - name: p
    steps:
      - subtask: {name: "Send email via Resend", type: api_call, assigned_to: automated, retries: 1}
      - {id: two, assigned_to: function, requires: send-email-via-resend}
`)
    expect(manifest.plans?.[0]?.['steps']).toEqual([
      {
        id: 'send-email-via-resend',
        name: 'Send email via Resend',
        type: 'api_call',
        assigned_to: 'workflow',
        retry: { max_attempts: 2 },
      },
      { id: 'two', assigned_to: 'workflow', requires: ['send-email-via-resend'] },
    ])
  })
})

describe('[A2] expressions', () => {
  test.each([
    ['not payload.a and payload.b or payload.c == "and"', '! payload.a && payload.b || payload.c == "and"'],
    ['payload.not == 1 and not (payload.or)', 'payload.not == 1 && ! (payload.or)'],
    ['{expr: payload.a}', 'payload.a'],
    ['"{{ payload.a }}"', 'payload.a'],
  ])('%s', (text, expression) =>
    expect(fn(`trigger:\n  event: a.b\n  filter: ${text}`).triggers[0]?.filter).toBe(expression),
  )

  test('a bare name is a field of the payload, in emits first a field of the output', () => {
    const { manifest } = loaded(`
events: [{name: a.b, payload: {score: number, lead: string}}]
agents:
  - name: a
    trigger: {event: a.b, filter: score > 3}
    contract: {output_schema: {type: object, properties: {score: {type: number}}}}
    emits: {event: c.d, when: 'score > 0.5 && lead != "x"'}
`)
    expect(manifest.agents?.[0]?.triggers[0]?.filter).toBe('payload.score > 3')
    expect(manifest.agents?.[0]?.emits?.[0]?.when).toBe('output.score > 0.5 && payload.lead != "x"')
  })
})

describe('what is kept', () => {
  test('unknown sections and keys give a warning with the nearest name, are kept by their path, and are printed', () => {
    const { manifest, findings } = loaded('functions:\n  - {name: f, tigger: a.b}\nfuntions: {x: 1}\n')
    expect(manifest['extra']).toEqual({ 'functions.f.tigger': 'a.b', funtions: { x: 1 } })
    expect(findings.filter(({ code }) => code === 'MANIFEST_UNKNOWN_KEY')).toMatchObject([
      { line: 3, column: 15, message: 'tigger is unknown here; did you mean trigger?' },
      { line: 4, column: 1, message: 'funtions is unknown here; did you mean functions?' },
    ])
  })

  test('notes for people are accepted anywhere', () => {
    const { manifest, findings } = loaded(
      'x-team: a\nnotes: [n]\nfunctions:\n  - {name: f, x-owner: ana, open_questions: [q]}\n',
    )
    expect(findings.filter(({ code }) => code === 'MANIFEST_UNKNOWN_KEY')).toEqual([])
    expect(manifest).toMatchObject({
      'x-team': 'a',
      notes: ['n'],
      functions: [{ 'x-owner': 'ana', open_questions: ['q'] }],
    })
  })

  test('the version is kept as the text that was written', () =>
    expect(loadManifest('product: {name: s, version: 2.0}').manifest?.product.version).toBe('2.0'))

  test('a printed manifest loads as the same manifest', () => {
    const { manifest } = loaded(`
defaults: {tz: Europe/Berlin}
events: {namespace: s, a.b: {payload: {id: string!, n: }}}
functions:
  f: {trigger: s/a.b, retries: 2, emits: c.d, odd: 1}
  g: {trigger: {cron: "0 3 * * *"}}
webhooks: {w: {emits: a.b, secret: "\${S}"}}
`)
    expect(loadManifest(printManifest(manifest)).manifest).toEqual(manifest)
  })
})
