/**
 * The table of error codes, and the error class.
 *
 * Owns what each code means to a caller: the HTTP status, whether the engine retries it, and what to do about it. Never formats a response.
 */
// biome-ignore format: one row per code reads as a table
export const ERRORS = {
  JSON_INVALID: { status: 400, retryable: false, hint: 'Send plain JSON: no undefined, functions, dates, BigInt or non-finite numbers.' },
  BODY_INCOMPLETE: { status: 400, retryable: false, hint: 'Send the request again, with the whole body.' },
  NOT_JSON: { status: 400, retryable: false, hint: 'Send JSON; over HTTP with content-type application/json.' },
  QUERY_UNKNOWN: { status: 400, retryable: false, hint: 'Remove the parameter, or use one of the known ones.' },
  CURSOR_INVALID: { status: 400, retryable: false, hint: 'Start the listing again without a cursor.' },
  UNAUTHENTICATED: { status: 401, retryable: false, hint: 'Send a token (TRIHAND_TOKEN, Authorization: Bearer) or log in; on loopback say who you are: --as <user>, x-trihand-user.' },
  OVERLOADED: { status: 429, retryable: true, hint: 'Nothing was accepted. Send the same request again after the seconds that Retry-After names; or add capacity, or raise TRIHAND_INTAKE_QUEUE or TRIHAND_INTAKE_WAIT.' },
  TOO_MANY_REQUESTS: { status: 429, retryable: false, hint: 'Wait as long as Retry-After says. Wrong tokens: check the token. Too many requests or streams of one credential: ask less often, or raise TRIHAND_REQUEST_RATE or TRIHAND_STREAM_LIMIT.' },
  SIGNATURE_INVALID: { status: 401, retryable: false, hint: 'Sign the raw body with the shared secret, and send it within five minutes.' },
  ROLE_MISSING: { status: 403, retryable: false, hint: 'Ask an administrator for a token with the role, or use one that has it.' },
  TENANT_MISMATCH: { status: 403, retryable: false, hint: 'Use a credential of that tenant: a request reaches its own tenant only.' },
  TOKEN_INVALID: { status: 422, retryable: false, hint: 'Give a name, a kind, and roles that go together.' },
  NOT_FOUND: { status: 404, retryable: false, hint: 'Check the id; `trihand runs list` shows what there is.' },
  METHOD_NOT_ALLOWED: { status: 405, retryable: false, hint: 'Use one of the methods in the Allow header.' },
  VISITOR_UNKNOWN: { status: 403, retryable: false, hint: 'Give createTrihand `http: { identify }`, which says who is asking. Without it only this machine is served: hand the address of the caller to fetch(request, { address }), or use the handler `node`.' },
  ORIGIN_FORBIDDEN: { status: 403, retryable: false, hint: 'Call from the same origin, or without a browser.' },
  HOST_FORBIDDEN: { status: 403, retryable: false, hint: 'Use the address that the server printed at its start.' },
  MEDIA_TYPE_UNSUPPORTED: { status: 415, retryable: false, hint: 'Send content-type application/json.' },
  PRECONDITION_FAILED: { status: 412, retryable: false, hint: 'Read it again: it has changed since; then decide whether you still want this.' },
  PRECONDITION_REQUIRED: { status: 428, retryable: false, hint: 'Send If-Match with the ETag of what you have read.' },
  PAYLOAD_TOO_LARGE: { status: 413, retryable: false, hint: 'Send less, or store the content elsewhere and send a reference.' },
  ID_AMBIGUOUS: { status: 409, retryable: false, hint: 'Write more of the last digits of the id.' },
  EVENT_UNKNOWN: { status: 422, retryable: false, hint: 'Declare the event in the system, or fix the spelling.' },
  EVENT_INVALID: { status: 422, retryable: false, hint: 'Make the data fit the schema that the event declares.' },
  EVENT_RESERVED: { status: 422, retryable: false, hint: 'Choose a type without the prefixes agent. human. workflow. approval_bundle. trihand. and a source without human: (with an id of your own also not trihand, agent: workflow: run: schedule: queue:).' },
  EVENT_HUMAN_ONLY: { status: 403, retryable: false, hint: 'Let a person decide the task that sends it; without a task, send it under a person\'s name (a token of kind user, --as on loopback, `by` in code). Declare the event `open: true` if programs may send it.' },
  EVENT_NOT_TOLD: { status: 422, retryable: false, hint: 'Name the event in `waits` of the handler: it is told only where somebody listens.' },
  EVENT_TOO_LARGE: { status: 413, retryable: false, hint: 'Keep event data under 256 KiB; put large content in a step result.' },
  EVENT_ID_REUSED: { status: 409, retryable: false, hint: 'Use a new id for new data; the first event with this id stands.' },
  EXPR_REJECTED: { status: 422, retryable: false, hint: 'Write a CEL expression of the supported subset.' },
  EXPR_FAILED: { status: 422, retryable: false, hint: 'Guard the field with has(), or declare it as required.' },
  TEMPLATE_ERROR: { status: 422, retryable: false, hint: 'Fix the template, or guard the field with has().' },
  TRANSFORM_FAILED: { status: 422, retryable: false, hint: 'Fix the transform; the delivery is kept and can be replayed with `trihand triggers replay`.' },
  ENV_MISSING: { status: 503, retryable: false, hint: 'Set the environment variable, or give the reference a default.' },
  TRIGGER_NOT_INSTALLED: { status: 503, retryable: false, hint: 'Run `trihand triggers install` once for this table.' },
  TABLE_UNREACHABLE: { status: 503, retryable: true, hint: 'Check the database of the table trigger; changes wait in its outbox.' },
  MANIFEST_INVALID: { status: 422, retryable: false, hint: 'Fix the definition at the place named.' },
  MANIFEST_DUPLICATE_NAME: { status: 422, retryable: false, hint: 'Give each function, agent, human and plan its own name.' },
  MANIFEST_DUPLICATE_KEY: { status: 422, retryable: false, hint: 'Keep one of the two keys, in one spelling.' },
  MANIFEST_TOO_LARGE: { status: 413, retryable: false, hint: 'Keep the manifest under 256 KiB; move prompts, schemas and templates to files.' },
  PATH_ESCAPE: { status: 403, retryable: false, hint: 'Name a file inside the folder: relative, without .. and without links.' },
  CONDITION_UNSUPPORTED: { status: 422, retryable: false, hint: 'Write column = value, joined by AND; operators are = != < <= > >= and IN.' },
  PLAN_SYNTAX: { status: 422, retryable: false, hint: 'Write a line for each step: `c. Send emails (requires steps a and b)`.' },
  PLAN_QUESTION: { status: 422, retryable: false, hint: 'Answer the question: write the plan down step by step, or use one of the sentences that are known.' },
  PLAN_NOT_APPROVED: { status: 409, retryable: false, hint: 'Let a person approve this revision: POST /api/plans/{id}/approve with its hash.' },
  PLAN_STALE: { status: 409, retryable: false, hint: 'Read the plan again: it has changed since; then approve what it is now.' },
  PLAN_CYCLE: { status: 422, retryable: false, hint: 'Take one of the steps out of the circle.' },
  PLAN_UNASSIGNED: { status: 422, retryable: false, hint: 'Say who does the step: assigned_to, default_modality or a type; in a text the words of a line are the name of whoever does it.' },
  PLAN_BAD_REF: { status: 422, retryable: false, hint: 'Name a step of the same plan.' },
  FILE_NAME_CASE: { status: 422, retryable: false, hint: 'Spell the file as the manifest does: other machines tell the two apart.' },
  INSTANT_WITHOUT_ZONE: { status: 422, retryable: false, hint: 'Write the instant with its offset, like 2026-03-01T09:00:00Z or +01:00.' },
  POLICY_CONFLICT: { status: 422, retryable: false, hint: 'Keep one of the options that exclude each other.' },
  SCHEDULE_NEVER_FIRES: { status: 422, retryable: false, hint: 'Fix the expression, or what start, end and exclude leave of it.' },
  SCHEDULE_TZ_REQUIRED: { status: 422, retryable: false, hint: 'Name the IANA time zone, like Europe/Berlin or UTC.' },
  SCHEDULE_ENDED: { status: 409, retryable: false, hint: 'The schedule has no slot left; declare it with more.' },
  AGENT_CANNOT_DECIDE: { status: 403, retryable: false, hint: 'Let a person decide; agents and services never can.' },
  TASK_FORBIDDEN: { status: 403, retryable: false, hint: 'Ask one of the assignees, or have the task reassigned to you.' },
  SEPARATION_OF_DUTIES: { status: 403, retryable: false, hint: 'Let somebody decide who had no part in it.' },
  REQUESTER_UNKNOWN: { status: 422, retryable: false, hint: 'Start it with the credential of a person (a token of kind user, --as on loopback, `by` in code), or name the person in the field `requester` or `requested_by`.' },
  TASK_WITHDRAWN: { status: 409, retryable: false, hint: 'The run that asked has ended or was cancelled; retry it to ask again.' },
  TASK_CLOSED: { status: 409, retryable: false, hint: 'Somebody was first; read the decision of the task.' },
  TASK_CLAIMED: { status: 409, retryable: false, hint: 'Ask them to unclaim it; a decision needs no claim.' },
  STALE_VIEW: { status: 409, retryable: false, hint: 'Read the task again: what it shows has changed since you saw it.' },
  DRAFTS_NEWER: { status: 409, retryable: false, hint: 'Read the task again: it shows your newer drafts. Then decide with its draft_revision, with or without them.' },
  CONSENT_MISMATCH: { status: 409, retryable: false, hint: 'What was approved is not what would be done: look at the run, and have it approved again.' },
  ESCALATION_EXHAUSTED: { status: 409, retryable: false, hint: 'There is no higher level; decide, or reassign the task.' },
  QUORUM_IMPOSSIBLE: { status: 422, retryable: false, hint: 'Lower the quorum, or assign the task to more people or a group.' },
  ACTION_NOT_ALLOWED: { status: 422, retryable: false, hint: 'Use one of the allowed_actions of the task.' },
  REASON_REQUIRED: { status: 422, retryable: false, hint: 'Send a reason with this action.' },
  CONFIRMATION_REQUIRED: { status: 422, retryable: false, hint: 'Type what the detail names: confirm in the body, or --confirm.' },
  WARNING_NOT_ACKNOWLEDGED: { status: 409, retryable: false, hint: 'Read the warning; if you mean it all the same, send acknowledged: true, or --acknowledge.' },
  FIELDS_REQUIRED: { status: 422, retryable: false, hint: 'Fill in the fields that the detail names.' },
  MODIFICATION_INVALID: { status: 422, retryable: false, hint: 'Mend what the detail names; nothing was decided.' },
  REQUEST_IN_PROGRESS: { status: 409, retryable: false, hint: 'Send the same request again after the seconds that retry-after names: it gets the answer, or does the work.' },
  REQUEST_UNANSWERED: { status: 409, retryable: false, hint: 'Look at what the first request did; if its work is missing, send it with a new idempotency key.' },
  ANSWER_NOT_KEPT: { status: 409, retryable: false, hint: 'List the tokens and revoke the one that you cannot use; then send the request with a new idempotency key.' },
  IDEMPOTENCY_MISMATCH: { status: 422, retryable: false, hint: 'Use a new idempotency key for a new request.' },
  COST_TOO_HIGH: { status: 422, retryable: false, hint: 'Lower the cost, or raise the limit of the throttle.' },
  MODULE_DENIED: { status: 403, retryable: false, hint: 'Add the capability to the module, or move the step.' },
  MODULE_PROCESS_LOST: { status: 500, retryable: true, hint: 'The process of an isolated module ended or stood still in the middle of its code; see its output. What may happen once is asked about.' },
  ISOLATION_UNAVAILABLE: { status: 503, retryable: false, hint: 'Run on one of the versions of Node.js that docs/modules.md lists, or take isolation from the module.' },
  OPERATION_NOT_ALLOWED: { status: 403, retryable: false, hint: 'Declare the operation in allowedOperations.' },
  FUNCTION_INTERNAL: { status: 403, retryable: false, hint: 'Send the event that triggers it; declare `internal: false` if it may be started by name.' },
  FUNCTION_NOT_IMPLEMENTED: { status: 422, retryable: false, hint: 'Write the function, then start it again.' },
  FUNCTION_FAILED: { status: 500, retryable: true, hint: 'Read the error of the step; fix the function, then `trihand runs retry <id>`.' },
  EXECUTOR_FAILED: { status: 500, retryable: true, hint: 'Read the error that the executor gave.' },
  EXECUTOR_THREW: { status: 500, retryable: true, hint: 'An executor must answer with a value; report this one.' },
  ENVELOPE_INVALID: { status: 422, retryable: false, hint: 'Send the envelope of the executor contract, with the keys it names and no others.' },
  EXECUTOR_DUPLICATE: { status: 422, retryable: false, hint: 'Give the executor another type; each has one executor.' },
  EXECUTOR_NOT_ALLOWED: { status: 403, retryable: false, hint: 'List the executor in the chat, or ask for something else.' },
  EXECUTOR_UNKNOWN: { status: 422, retryable: false, hint: 'Register an executor of this type, or fix the spelling.' },
  MODEL_NOT_ALLOWED: { status: 422, retryable: false, hint: 'Add the model to allowed_models, or ask for one that is there.' },
  STEP_PARTIAL: { status: 422, retryable: false, hint: 'The result is incomplete: raise its limits, or take it with onPartial accept.' },
  WEBHOOK_UNSIGNED: { status: 422, retryable: false, hint: 'Give it a secret, as a reference to the environment, or say auth: none and unsigned: true where only this machine can call.' },
  TEMPLATE_UNSUPPORTED: { status: 422, retryable: false, hint: 'Write the template in Liquid, or install the package that the detail names.' },
  DOCUMENT_UNSUPPORTED: { status: 422, retryable: false, hint: 'Send text, Markdown, JSON, HTML, CSV, PDF or DOCX, with its media type.' },
  DOCUMENT_BROKEN: { status: 422, retryable: false, hint: 'The document cannot be read; see what the detail says about it.' },
  CLASS_NONE: { status: 422, retryable: false, hint: 'Add a rule that fits, a model, or a default label.' },
  EMIT_NOT_DECLARED: { status: 422, retryable: false, hint: 'List the event under emits of the function.' },
  ROUTE_UNMATCHED: { status: 422, retryable: false, hint: 'Add the value to routes, or declare a default route.' },
  FAN_IN_TIMEOUT: { status: 422, retryable: false, hint: 'Raise the timeout of the fan-in, or declare what to emit on timeout.' },
  STATE_TRANSITION_INVALID: { status: 422, retryable: false, hint: 'Add the transition to the state machine, or find who moved the entity.' },
  STEP_TIMEOUT: { status: 504, retryable: true, hint: 'Raise the timeout of the step, or make it smaller.' },
  STEP_ABORTED: { status: 500, retryable: true, hint: 'The run was cancelled or handed to another worker.' },
  STEP_AT_WORK: { status: 409, retryable: false, hint: 'Wait: the question appears in the inbox once its lease and its timeout have passed.' },
  STEP_UNCERTAIN: { status: 409, retryable: false, hint: 'Answer its task in the inbox, or with `trihand runs resolve <id> <step> happened|run_again|abort`.' },
  STEP_REFUSED: { status: 422, retryable: false, hint: 'A person chose to abort this step.' },
  STEP_NAME_INVALID: { status: 422, retryable: false, hint: 'Name a step with 1 to 128 characters, no control character and no [; a loop key goes into the option key.' },
  STEP_NOT_REACHED: { status: 422, retryable: false, hint: 'Name a step that the run has begun; `trihand runs show <id>` lists them.' },
  STEP_MISUSED: { status: 422, retryable: false, hint: 'Call step functions from the handler, not from inside another step.' },
  INPUT_INVALID: { status: 422, retryable: false, hint: 'Make the input fit the declared schema.' },
  OUTPUT_INVALID: { status: 422, retryable: false, hint: 'Make the result fit the declared schema.' },
  RESULT_TOO_LARGE: { status: 422, retryable: false, hint: 'Keep a step result under 16 MiB; store larger content elsewhere.' },
  BATCH_ITEMS_FAILED: { status: 422, retryable: false, hint: 'Look at what the function says about each item; they come again as its retry says.' },
  HANDLER_PAUSED: { status: 409, retryable: false, hint: 'Resume it with `trihand handlers resume`, then ask again.' },
  RUN_EXISTS: { status: 409, retryable: false, hint: 'A run for this key exists already.' },
  RUN_BACKLOG_FULL: { status: 429, retryable: false, hint: 'Wait until the runs in the line have ended, or ask for fewer.' },
  QUEUE_FULL: { status: 429, retryable: true, hint: 'Send it again when messages have left the queue, or raise max_length.' },
  RUN_ENDED: { status: 409, retryable: false, hint: 'The run has ended; start a new one, or retry it if it failed.' },
  RUN_PAUSED: { status: 409, retryable: false, hint: 'Let the run go on first: trihand runs resume.' },
  RUN_AT_WORK: { status: 409, retryable: false, hint: 'Wait until it waits or has ended, or pause or cancel it first; then ask again.' },
  RUN_NOT_FAILED: { status: 409, retryable: false, hint: 'Only failed, cancelled, expired or quarantined runs can be retried.' },
  RUN_QUEUED: { status: 409, retryable: false, hint: 'The run waits for its turn; wait until it begins, or cancel it.' },
  RUN_CANCELLED: { status: 409, retryable: false, hint: 'The run was cancelled.' },
  RUN_DEADLINE: { status: 422, retryable: false, hint: 'Raise deadline.finish, or find what the run waited for.' },
  RUN_START_EXPIRED: { status: 422, retryable: false, hint: 'Raise deadline.start, or add workers.' },
  FACT_BROKEN: { status: 409, retryable: false, hint: 'The stored history was changed after it was written: run `trihand verify`, restore it from a backup, then retry the run.' },
  SEAL_KEY_MISSING: { status: 500, retryable: false, hint: 'Set TRIHAND_SEAL_KEY to the keys that this ledger was sealed with.' },
  SEAL_KEY_WRONG: { status: 500, retryable: false, hint: 'Add the key that the ledger was sealed with to the list in TRIHAND_SEAL_KEY, after the new one.' },
  LEDGER_NOT_SEALED: { status: 500, retryable: false, hint: 'A seal key is for a ledger that was sealed from its first entry: begin a new one. If this one was sealed, it was replaced or changed: restore it.' },
  LEDGER_KEY_MISSING: { status: 500, retryable: false, hint: 'Set TRIHAND_LEDGER_KEY to the keys that this ledger was encrypted with; without them nothing in it can be read.' },
  LEDGER_KEY_WRONG: { status: 500, retryable: false, hint: 'Add the key that the ledger was encrypted with to the list in TRIHAND_LEDGER_KEY, after the new one.' },
  PAYLOAD_BROKEN: { status: 500, retryable: false, hint: 'The database was changed by other means than trihand: run `trihand verify`, and restore the row from a backup.' },
  RUN_QUARANTINED: { status: 500, retryable: false, hint: 'The run stopped the worker five times; fix the cause, then retry it.' },
  RUN_TOO_LONG: { status: 422, retryable: false, hint: 'A run ends at 100,000 steps; split it into children.' },
  CHILD_FAILED: { status: 422, retryable: false, hint: 'Look at the child run that is named.' },
  RUN_WAITS_FOR_ITSELF: { status: 409, retryable: false, hint: 'Give the call `gate: none`, another overlap key, or do its work in this run.' },
  CHILD_DEPTH: { status: 422, retryable: false, hint: 'Children nest at most 16 deep.' },
  FAN_OUT_LIMIT: { status: 422, retryable: false, hint: 'One event may start at most 1,000 runs.' },
  TURN_RUNNING: { status: 409, retryable: false, hint: 'Wait for the answer, or stop the turn, then send the message again.' },
  SESSION_STATE_INVALID: { status: 409, retryable: false, hint: 'Use one of the commands that this state allows.' },
  STATE_CORRUPT: { status: 500, retryable: false, hint: 'The stored state does not match its hash; restore it from a checkpoint.' },
  CHECKPOINT_CORRUPT: { status: 500, retryable: false, hint: 'The checkpoint does not match its hash; use an earlier one.' },
  FACT_UNKNOWN: { status: 500, retryable: false, hint: 'A newer trihand wrote this run; upgrade this process.' },
  SHUTTING_DOWN: { status: 503, retryable: true, hint: 'This process closes. Send the same request again, with its id or key, to one that runs; the outcome may be unknown.' },
  LEDGER_CONFLICT: { status: 503, retryable: true, hint: 'Too many writers on one run; send the same request again.' },
  LEDGER_UNAVAILABLE: { status: 503, retryable: true, hint: 'The database does not answer. The outcome may be unknown: send the same request again.' },
  LEDGER_MISSING: { status: 503, retryable: true, hint: 'Put the same file back under its name, and work goes on; or stop the process, restore the ledger and start again. Nothing is accepted meanwhile.' },
  LEDGER_CORRUPT: { status: 500, retryable: false, hint: 'Stop, and restore the ledger from a backup. Nothing was repaired.' },
  LEDGER_IN_USE: { status: 503, retryable: false, hint: 'Another process owns this file: talk to it over HTTP, or stop it.' },
  LEDGER_NEWER: { status: 503, retryable: false, hint: 'Upgrade trihand, or open a copy made by this version.' },
  LEDGER_OLDER: { status: 503, retryable: false, hint: 'Name the server that has this ledger open, by its URL; or call the trihand that serves it. Nothing was changed.' },
  LEDGER_NOT_DURABLE: { status: 503, retryable: false, hint: 'The store does not keep the durability settings; see the detail.' },
  LEDGER_ON_NETWORK_DISK: { status: 503, retryable: false, hint: 'Put the ledger on a local disk, or use Postgres.' },
  SQLITE_TOO_OLD: { status: 503, retryable: false, hint: 'SQLite 3.51.3 or newer is needed; reinstall the package.' },
  FOLDER_READ_ONLY: { status: 500, retryable: false, hint: 'Let this user write there, or name another place: TRIHAND_DATA for the folder, DATABASE_URL for the ledger.' },
  STORAGE_FULL: { status: 507, retryable: true, hint: 'Free disk space; work goes on by itself.' },
  BLOB_MISSING: { status: 500, retryable: false, hint: 'A stored payload is gone; restore the blobs with the ledger.' },
  CALLBACK_UNSIGNED: { status: 422, retryable: false, hint: 'Set TRIHAND_CALLBACK_SECRET (or notices.callbackSecret) and start again, or leave callback_url out.' },
  CONFIG_INVALID: { status: 422, retryable: false, hint: 'Fix the configuration named in the detail.' },
  PEER_MISSING: { status: 422, retryable: false, hint: 'Install the package that the detail names, then start again.' },
  LOAD_FAILED: { status: 422, retryable: false, hint: 'Fix the file at the place named.' },
  NOT_A_TERMINAL: { status: 422, retryable: false, hint: 'Call it at a terminal, or with the flag that the detail names.' },
  PORT_IN_USE: { status: 503, retryable: false, hint: 'Choose another port with --port.' },
  SERVER_UNREACHABLE: { status: 503, retryable: true, hint: 'Start it with `trihand dev`, or give --server.' },
  AGENT_MAX_TURNS: { status: 422, retryable: false, hint: 'Raise limits.max_turns, or give the agent a smaller task.' },
  AGENT_MAX_TOOL_CALLS: { status: 422, retryable: false, hint: 'Raise limits.max_tool_calls, or give the agent a smaller task.' },
  AGENT_LOOP: { status: 422, retryable: false, hint: 'Read what the agent tried; its instructions or its tools do not let it go on.' },
  AGENT_REPORTED_FAILURE: { status: 422, retryable: false, hint: 'The agent answered success: false; its answer says why.' },
  BUDGET_EXCEEDED: { status: 422, retryable: false, hint: 'Raise max_tokens or max_cost_usd, or give the agent a smaller task.' },
  BUDGET_UNPRICED: { status: 422, retryable: false, hint: 'Give the model a price under prices, or take max_cost_usd away.' },
  TOOL_NOT_ALLOWED: { status: 403, retryable: false, hint: 'Add the tool to allowed_tools of the agent, if it should have it.' },
  TOOL_INPUT_INVALID: { status: 422, retryable: false, hint: 'Make the input fit the schema of the tool.' },
  TOOL_FAILED: { status: 502, retryable: false, hint: 'Read the message of the tool.' },
  SCOPE_WIDER: { status: 403, retryable: false, hint: 'A child gets no tool, model or money that its parent lacks.' },
  PROMPT_MISSING: { status: 422, retryable: false, hint: 'Write agents/<name>/CLAUDE.md, or name the file with prompt.' },
  CONTEXT_MISSING: { status: 422, retryable: false, hint: 'Give what the agent needs to begin: the file, the row or the field that is named.' },
  CONTEXT_AMBIGUOUS: { status: 422, retryable: false, hint: 'Say with where which rows are meant.' },
  SIMULATED_NO_SCRIPT: { status: 422, retryable: false, hint: 'Add the entry that the detail shows to the script, or set the key of a provider.' },
  SCRIPT_INVALID: { status: 422, retryable: false, hint: 'Fix the script of the simulated model at the place named.' },
  FILE_NOT_REGULAR: { status: 422, retryable: false, hint: 'Only plain files are read and written.' },
  FILE_BINARY: { status: 422, retryable: false, hint: 'The file is no text.' },
  EDIT_NO_MATCH: { status: 422, retryable: false, hint: 'Read the file and use text that is in it.' },
  EDIT_AMBIGUOUS: { status: 422, retryable: false, hint: 'Use a longer text that is there once, or replace_all.' },
  WORKSPACE_QUOTA: { status: 422, retryable: false, hint: 'Keep a workspace under 1,000 files and 64 MiB.' },
  CIRCUIT_OPEN: { status: 503, retryable: false, hint: 'The target failed too often; calls go on by themselves once a probe succeeds.' },
  NO_WORKER: { status: 503, retryable: false, hint: 'Start a worker that fits: `trihand worker --pool … --labels …`.' },
  MODEL_AUTH: { status: 422, retryable: false, hint: 'Check the key of the model provider, and what it may do.' },
  MODEL_NOT_FOUND: { status: 422, retryable: false, hint: 'Check the model id and its base_url under defaults.models.' },
  MODEL_TIMEOUT: { status: 504, retryable: true, hint: 'Raise constraints.timeout_ms or allow a faster model.' },
  RATE_LIMITED: { status: 429, retryable: true, hint: 'Wait as long as the other side asks; the engine does so by itself.' },
  MODEL_UNAVAILABLE: { status: 503, retryable: true, hint: 'The model provider is in trouble; add fallback_models.' },
  MODEL_BAD_RESPONSE: { status: 502, retryable: true, hint: 'The model provider answered with something that is no answer.' },
  MODEL_CONTEXT_FULL: { status: 422, retryable: false, hint: 'Send less, or allow a model with a larger context.' },
  MODEL_REJECTED: { status: 422, retryable: false, hint: 'The model provider refused the request; its reason is in the detail.' },
  MODEL_FILTERED: { status: 422, retryable: false, hint: 'The model provider withheld the answer; change the prompt or the model.' },
  URL_BLOCKED: { status: 403, retryable: false, hint: 'Allow the host in the module; addresses inside the own network are never allowed.' },
  FETCH_FAILED: { status: 502, retryable: true, hint: 'The other side did not answer as expected; see the detail.' },
  TOOL_UNAVAILABLE: { status: 503, retryable: true, hint: 'The server behind the tool does not answer; see its own log.' },
  TOOL_CHANGED: { status: 409, retryable: false, hint: 'The tool is not what was recorded: look at it, then start a new run.' },
  SCHEMA_NOT_EXPORTABLE: { status: 422, retryable: false, hint: 'Use a schema whose library writes JSON Schema, or give JSON Schema itself.' },
  TOOL_EFFECT_MISSING: { status: 422, retryable: false, hint: 'Declare effect: none, idempotent or once.' },
  TOOL_NAME_CLASH: { status: 422, retryable: false, hint: 'Rename one of the tools: models see only A-Z a-z 0-9 _ and -.' },
  INTERNAL: { status: 500, retryable: true, hint: 'This is a bug; report it with the error id.' },
} as const satisfies Record<string, { status: number; retryable: boolean; hint: string }>

export type ErrorCode = keyof typeof ERRORS

export interface Place {
  readonly file?: string
  readonly line?: number
  readonly column?: number
  readonly path?: string
}

export interface ErrorOptions {
  readonly place?: Place
  readonly cause?: unknown
  /** For ledger calls: `not_done` if the work is known not to have happened, `unknown` if that cannot be known. */
  readonly outcome?: 'not_done' | 'unknown'
}

export class TrihandError extends Error {
  readonly code: ErrorCode
  readonly detail: string
  readonly place: Place | null
  readonly outcome: 'not_done' | 'unknown'

  constructor(code: ErrorCode, detail: string, options: ErrorOptions = {}) {
    super(`${code}: ${detail}`, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'TrihandError'
    this.code = code
    this.detail = detail
    this.place = options.place ?? null
    this.outcome = options.outcome ?? 'not_done'
  }

  get status(): number {
    return ERRORS[this.code].status
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable
  }

  get hint(): string {
    return ERRORS[this.code].hint
  }
}

export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(ERRORS, text)

/** An error as a value: what a step or a run stores about its failure. */
export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  /** For a child run: what it had finished before it failed. A retry repeats none of it. */
  readonly done?: readonly string[]
}
