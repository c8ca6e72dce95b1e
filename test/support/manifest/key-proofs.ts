/**
 * Manifest keys that are not run in pairs: the tests that show their effect, or the reason why they have none.
 *
 * Owns both lists. A test is named by its file, which must contain the key in the manifest's or in the author's spelling.
 */

/** By the path of a key; `handler` stands for each of the four kinds of handlers. The first match counts. */
export const PROOFS: readonly (readonly [path: RegExp, files: readonly string[]])[] = [
  [
    /^(functions|agents|humans|plans)\.triggers\./,
    [
      'test/acceptance/flow/trigger-flow.test.ts',
      'test/acceptance/events/conditions.test.ts',
      'test/acceptance/events/tables.test.ts',
      'test/acceptance/events/files.test.ts',
      'test/acceptance/runs/after.test.ts',
      'src/manifest/define/sources.test.ts',
      'src/manifest/yaml/load.test.ts',
      'test/acceptance/events/webhooks.test.ts',
      'test/acceptance/flow/flow.test.ts',
      'src/manifest/flow/flow.test.ts',
    ],
  ],
  [/^(functions|agents|plans)\.circuit/, ['test/acceptance/flow/circuit.test.ts', 'src/manifest/flow/circuit.test.ts']],
  [
    /^(functions|agents|humans|plans)\.(placement|pool|pin|pin_for|module)/,
    [
      'src/manifest/define/placement.test.ts',
      'test/acceptance/systems/modules.test.ts',
      'test/acceptance/systems/fleet.test.ts',
      'test/acceptance/runs/deploys.test.ts',
      'src/manifest/define/modules.test.ts',
    ],
  ],
  [
    /^(functions|agents|humans|plans)\.(idempotency|rate_limit|debounce|batch|while_paused|overlap|overlap_key|throttle|concurrency|priority|fairness|cancel_on|allow_reentry)/,
    [
      'test/acceptance/flow/flow.test.ts',
      'src/manifest/flow/flow.test.ts',
      'test/acceptance/flow/concurrency.test.ts',
      'test/acceptance/runs/cancel-on.test.ts',
      'src/manifest/define/cancel-on.test.ts',
      'test/acceptance/runs/pause.test.ts',
      'test/acceptance/flow/crowds.test.ts',
      'test/acceptance/flow/batch-items.test.ts',
      'test/acceptance/people/humans.test.ts',
      'test/acceptance/events/events.test.ts',
    ],
  ],
  [
    /^(functions|agents|plans)\.(retry|timeout|effect|deadline|waits|entity|state_in|state_out|emits|persist|db_lookups|validate_input|input|output|output_schema|internal|enabled|name|triggers)/,
    [
      'test/acceptance/runs/functions.test.ts',
      'test/acceptance/runs/workflow.test.ts',
      'test/acceptance/runs/effects.test.ts',
      'test/acceptance/events/waits.test.ts',
      'test/acceptance/agents/agents.test.ts',
      'test/acceptance/systems/entities.test.ts',
      'src/manifest/yaml/load.test.ts',
      'src/manifest/yaml/declared.test.ts',
      'test/acceptance/runs/lifecycle.test.ts',
      'test/acceptance/systems/manifest-checks.test.ts',
      'test/acceptance/plans/plans.test.ts',
    ],
  ],
  [
    /^functions\.(source|mode|allowed_operations|integrations|pattern)/,
    [
      'test/acceptance/flow/queues.test.ts',
      'src/manifest/yaml/normalise/normal.test.ts',
      'test/acceptance/runs/workflow.test.ts',
      'src/manifest/yaml/declared.test.ts',
      'src/manifest/yaml/load.test.ts',
    ],
  ],
  [
    /^agents\./,
    [
      'test/acceptance/agents/agents.test.ts',
      'test/acceptance/agents/agents-team.test.ts',
      'test/acceptance/agents/agents-handoff.test.ts',
      'test/acceptance/agents/agents-people.test.ts',
      'test/acceptance/agents/agent-rows.test.ts',
      'test/acceptance/agents/mcp.test.ts',
      'test/acceptance/agents/claude-agent.test.ts',
      'src/manifest/define/agents.test.ts',
      'test/acceptance/agents/agent-retry.test.ts',
      'src/manifest/yaml/load.test.ts',
      'test/acceptance/people/escalation.test.ts',
      'test/integration/agents/agents.test.ts',
    ],
  ],
  [
    /^(humans|plans\.steps\.human_config)\./,
    [
      'test/acceptance/people/humans.test.ts',
      'test/acceptance/people/human-time.test.ts',
      'src/manifest/human/humans.test.ts',
      'test/acceptance/people/inbox.test.ts',
      'test/acceptance/plans/plan-refusals.test.ts',
      'test/acceptance/people/separation.test.ts',
      'test/acceptance/plans/plans.test.ts',
      'test/acceptance/plans/plan-manifest.test.ts',
      'test/acceptance/plans/plan-terms.test.ts',
      'src/manifest/yaml/load.test.ts',
    ],
  ],
  [
    /^plans\./,
    [
      'test/acceptance/plans/plan-terms.test.ts',
      'test/acceptance/plans/plans.test.ts',
      'test/acceptance/plans/plan-items.test.ts',
      'test/acceptance/plans/plan-manifest.test.ts',
      'test/acceptance/plans/plan-refusals.test.ts',
      'src/manifest/plan/plans.test.ts',
      'src/manifest/plan/shown.test.ts',
    ],
  ],
  [
    /^schedules\./,
    [
      'test/acceptance/flow/schedules.test.ts',
      'src/manifest/time/schedule.test.ts',
      'src/manifest/yaml/load.test.ts',
      'src/model/schedule/schedule.test.ts',
    ],
  ],
  [
    /^(events|webhooks)\./,
    [
      'test/acceptance/events/webhooks.test.ts',
      'src/manifest/define/webhooks.test.ts',
      'test/acceptance/events/events.test.ts',
      'test/acceptance/people/human-only.test.ts',
      'src/manifest/yaml/load.test.ts',
      'src/manifest/yaml/normalise/normal.test.ts',
      'src/manifest/lint/lint.test.ts',
      'test/acceptance/systems/manifest.test.ts',
      'src/manifest/yaml/parse/payload.test.ts',
    ],
  ],
  [/^endpoints\./, ['test/acceptance/events/endpoints.test.ts', 'src/manifest/define/endpoints.test.ts']],
  [
    /^state_machines\./,
    ['test/acceptance/systems/entities.test.ts', 'src/manifest/lint/lint.test.ts', 'src/manifest/yaml/load.test.ts'],
  ],
  [
    /^modules\./,
    [
      'test/integration/agents/isolated-modules.test.ts',
      'test/acceptance/systems/modules.test.ts',
      'src/manifest/define/modules.test.ts',
      'src/manifest/define/secrets.test.ts',
      'src/manifest/yaml/load.test.ts',
    ],
  ],
  [/^pools\./, ['src/manifest/define/placement.test.ts', 'test/acceptance/systems/fleet.test.ts']],
  [/^queues\./, ['test/acceptance/flow/queues.test.ts']],
  [/^tenancy\./, ['test/acceptance/systems/tenancy.test.ts', 'src/manifest/yaml/load.test.ts']],
  [
    /^chats\./,
    [
      'test/acceptance/agents/chat.test.ts',
      'src/manifest/define/chats.test.ts',
      'test/acceptance/agents/chat-plans.test.ts',
    ],
  ],
  [
    /^database\./,
    ['test/acceptance/events/tables.test.ts', 'src/manifest/lint/lint.test.ts', 'src/manifest/define/sources.test.ts'],
  ],
  [
    /^(defaults|product|limits)\./,
    [
      'src/manifest/yaml/load.test.ts',
      'src/manifest/yaml/normalise/normal.test.ts',
      'test/acceptance/flow/shared-throttle.test.ts',
      'test/acceptance/systems/manifest.test.ts',
    ],
  ],
]

/** Keys without a test, with the file that reads each. */
export const READ_BY: readonly (readonly [path: RegExp, file: string])[] = [
  [/\.(base_ms|factor|max_ms)$/, 'src/model/flow/policies/retry.ts'],
  [/^defaults\.models$/, 'src/manifest/yaml/source.ts'],
  [/^agents\.(internal|config\.asks\.users|workspace\.snapshot_on_failure)$/, 'src/manifest/define/agents.ts'],
  [/^(plans|humans)\.internal$/, 'src/manifest/define/define.ts'],
  [/^executors\./, 'src/manifest/yaml/source.ts'],
  [/\.entity_key$/, 'src/manifest/define/workflow.ts'],
  [/from_db\.template$/, 'src/executors/agent/hydrate.ts'],
  [/artifacts\.persist_to$/, 'src/manifest/define/agents.ts'],
  [/mcp_servers\.(command|args|env)$/, 'src/manifest/define/agents.ts'],
  [/^agents\.limits\.timeout_seconds$/, 'src/manifest/yaml/source.ts'],
  [/^(functions|plans)\.persist\.log$/, 'src/manifest/define/workflow.ts'],
  [/^functions\.integrations$/, 'src/manifest/define/workflow.ts'],
  [/\.event_payload_schema$/, 'src/manifest/human/actions.ts'],
  [/\.reminders\.start_after$/, 'src/manifest/human/time.ts'],
  [/^plans\.steps\.(default_modality|gate)$/, 'src/manifest/plan/plans.ts'],
  [/^modules\.tools$/, 'src/model/access/module.ts'],
  [/^prices\./, 'src/manifest/define/models.ts'],
]

/** Refused with its place, because no code would read it (yaml/unused.ts). */
export const REFUSED: readonly RegExp[] = [
  /^plans\.budget$/,
  /\.circuit\.half_open$/,
  /\.validate_input\.(state|files|on_invalid)$/,
  /\.idempotency\.scope$/,
  /^agents\.escalation_rules\.(assign|deadline)$/,
  /^plans\.steps\.escalation_rules\.assign$/,
]

/** Notes for people, or keys that the loader keeps and reports as LINT_NOT_USED: each with its reason. */
export const NO_EFFECT: readonly (readonly [path: RegExp, reason: string])[] = [
  [/^(chats|chats\.executors)\.description$/, 'a note for people'],
  [
    /^functions\.(actions|pipeline|steps\.(name|action|on_failure|timeout|retry\..*))$/,
    'prose: steps of the code, which says itself how they are tried',
  ],
  [/artifacts\.format$/, 'a note for people: the file says what it is'],
  [/persist\.(custom_function|data)$/, 'a function writes by itself'],
  [/^webhooks\.(handler|routing|hookdeck)/, 'belongs to another gateway in front'],
  [/^session_pools\./, 'told: sessions are not pooled'],
  [/^tenancy\.isolation\./, 'told: rows are filtered by tenant in every store'],
  [
    /^database\.(actors|tables|migrations_dir|source)/,
    'told: managed documents need no columns; conditions of access are checked by lint',
  ],
  [/^integrations$/, 'told: secrets reach code by the environment'],
  [/^infrastructure\./, 'told: what serves the system is set outside of it'],
  [/^observability\./, 'told: logs are set by the command, traces by the host'],
  [/^agents\.workspace\.base$/, 'told: each run has a folder of its own'],
  [/^limits\.max_fan_out$/, 'told: 1,000 runs of one event'],
  [/^defaults\.session$/, 'told: a session is named by whoever starts'],
  [/^events\.definitions\.idempotency_key$/, 'told: the sender names an id, or the handler a key'],
  [/^events\.definitions\.(after|action|terminal|schema)$/, 'read by lint and by the people that an event implies'],
  [/^plans\.steps\.db_lookups\./, 'told: a step reads with a function'],
  [/^extra$/, 'what nobody knew when it was read, kept by its path'],
]
