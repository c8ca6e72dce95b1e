/**
 * A manifest as large as one of a whole company: 80 events, 40 functions, 10 agents, about three thousand lines.
 *
 * Owns the text. Every line has a meaning; there is no padding.
 */

const EVENTS = 80
const FUNCTIONS = 40
const AGENTS = 10

const event = (i: number): string => `area${i % 8}.thing${i}.happened`

const eventText = (i: number): string => `    - name: ${event(i)}
      description: "Thing ${i} has happened in area ${i % 8}"
      source: ${i === 0 ? 'external' : 'machine'}
      idempotency_key: payload.id
      payload:
        id:
          type: uuid
          required: true
          description: Which one
        total:
          type: number
          min: 0
          max: 1000000
        kind:
          type: string
          enum: [a, b, c]
        happened_at:
          type: timestamp
        tags:
          type: array
          items:
            type: string
`

const functionText = (i: number): string => `  - name: handle-${i}
    description: "Does what must be done about thing ${i}"
    pattern: simple
    trigger:
      event: ${event(i)}
      filter: payload.total > ${i} && payload.kind != "c"
    emits:
      - event: ${event(i + 1)}
        when: output.ok == true
      - event: ${event(i + 40)}
        when: output.ok == false
        delay: 5m
        data:
          id: "{{payload.id}}"
          total: "{{payload.total}}"
    integrations:
      - mail
    allowed_operations:
      - api_call
      - emit_event
    retry:
      max_attempts: 4
      base_ms: 1000
    timeout: 30s
    rate_limit:
      limit: 100
      period: 1m
      key: payload.id
    concurrency:
      - limit: 5
        scope: handler
`

const agentText = (i: number): string => `  - name: judge-${i}
    description: "Judges thing ${i}"
    trigger:
      event: ${event(40 + i)}
      filter: payload.total > 10
    emits:
      - event: ${event(50 + i)}
        when: output.score > 0.5
      - event: ${event(60 + i)}
        when: output.score <= 0.5
    contract:
      context_in:
        from_db:
          - table: things
            as: things/
            template: thing.liquid
        static:
          - source: rules.md
            dest: rules.md
      context_out:
        artifacts:
          - file: report.md
            persist_to: blob
      output_schema:
        type: object
        properties:
          score:
            type: number
          reason:
            type: string
        required: [score]
    config:
      model: haiku
      allowed_tools:
        - Read
        - Write
    limits:
      max_tokens: 20000
      timeout_seconds: 120
    escalation_rules:
      - condition: agent.output.score < 0.2
        escalate_to: human
        reason: Too low
`

const times = (count: number, text: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => text(i)).join('')

export const largeManifest = (): string => `product:
  name: company
  version: 1.0
defaults:
  tz: Europe/Berlin
events:
  definitions:
${times(EVENTS, eventText)}agents:
${times(AGENTS, agentText)}functions:
${times(FUNCTIONS, functionText)}integrations:
  mail:
    api_key: \${MAIL_KEY}
`
