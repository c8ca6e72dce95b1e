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
  UNAUTHENTICATED: { status: 401, retryable: false, hint: 'Send a token (TRIHAND_TOKEN, Authorization: Bearer) or log in. On loopback, name yourself with --as <user> or x-trihand-user.' },
  OVERLOADED: { status: 429, retryable: true, hint: 'Nothing was accepted. Send the same request again after the seconds in Retry-After, add capacity, or raise TRIHAND_INTAKE_QUEUE or TRIHAND_INTAKE_WAIT.' },
  TOO_MANY_REQUESTS: { status: 429, retryable: false, hint: 'Wait for the seconds in Retry-After. After wrong tokens, check the token. After too many requests or streams of one credential, send fewer, or raise TRIHAND_REQUEST_RATE or TRIHAND_STREAM_LIMIT.' },
  SIGNATURE_INVALID: { status: 401, retryable: false, hint: 'Sign the raw body with the shared secret, and send it within five minutes.' },
  ROLE_MISSING: { status: 403, retryable: false, hint: 'Ask an administrator for a token with the role, or use one that has it.' },
  TENANT_MISMATCH: { status: 403, retryable: false, hint: 'Use a credential of that tenant: a request reaches its own tenant only.' },
  TOKEN_INVALID: { status: 422, retryable: false, hint: 'Give a name, a kind, and roles that this kind can have.' },
  NOT_FOUND: { status: 404, retryable: false, hint: 'Check the id; `trihand runs list` lists the runs.' },
  METHOD_NOT_ALLOWED: { status: 405, retryable: false, hint: 'Use one of the methods in the Allow header.' },
  VISITOR_UNKNOWN: { status: 403, retryable: false, hint: 'Give createTrihand `http: { identify }`, which identifies the caller. Without it only this machine is served: pass the address of the caller to fetch(request, { address }), or use the handler `node`.' },
  ORIGIN_FORBIDDEN: { status: 403, retryable: false, hint: 'Send the request from the same origin, or not from a browser.' },
  HOST_FORBIDDEN: { status: 403, retryable: false, hint: 'Use the address that the server printed when it started.' },
  MEDIA_TYPE_UNSUPPORTED: { status: 415, retryable: false, hint: 'Send content-type application/json.' },
  PRECONDITION_FAILED: { status: 412, retryable: false, hint: 'It has changed since you read it. Read it again, then repeat the request if you still want it.' },
  PRECONDITION_REQUIRED: { status: 428, retryable: false, hint: 'Send If-Match with the ETag of what you have read.' },
  PAYLOAD_TOO_LARGE: { status: 413, retryable: false, hint: 'Send less, or store the content elsewhere and send a reference.' },
  ID_AMBIGUOUS: { status: 409, retryable: false, hint: 'Give more of the last digits of the id.' },
  EVENT_UNKNOWN: { status: 422, retryable: false, hint: 'Declare the event in the system, or fix the spelling.' },
  EVENT_INVALID: { status: 422, retryable: false, hint: 'Change the data so that it matches the schema of the event.' },
  EVENT_RESERVED: { status: 422, retryable: false, hint: 'Choose a type without the prefixes agent. human. workflow. approval_bundle. trihand. and a source without human:. With your own id, also avoid the sources trihand, agent: workflow: run: schedule: queue:.' },
  EVENT_HUMAN_ONLY: { status: 403, retryable: false, hint: 'A person must decide the task that sends this event. Without a task, send it as a person (a token of kind user, --as on loopback, `by` in code). Declare the event `open: true` if programs may send it.' },
  EVENT_NOT_TOLD: { status: 422, retryable: false, hint: 'Add the event to `waits` of the handler: only handlers that wait for it receive it.' },
  EVENT_TOO_LARGE: { status: 413, retryable: false, hint: 'Keep event data under 256 KiB; put large content in a step result.' },
  EVENT_ID_REUSED: { status: 409, retryable: false, hint: 'Use a new id for new data; the first event with this id is kept.' },
  EXPR_REJECTED: { status: 422, retryable: false, hint: 'Write a CEL expression of the supported subset.' },
  EXPR_FAILED: { status: 422, retryable: false, hint: 'Guard the field with has(), or declare it as required.' },
  TEMPLATE_ERROR: { status: 422, retryable: false, hint: 'Fix the template, or guard the field with has().' },
  TRANSFORM_FAILED: { status: 422, retryable: false, hint: 'Fix the transform; the delivery is kept and can be replayed with `trihand triggers replay`.' },
  ENV_MISSING: { status: 503, retryable: false, hint: 'Set the environment variable, or give the reference a default.' },
  TRIGGER_NOT_INSTALLED: { status: 503, retryable: false, hint: 'Run `trihand triggers install` once for this table.' },
  TABLE_UNREACHABLE: { status: 503, retryable: true, hint: 'Check the database of the table trigger; changes wait in its outbox.' },
  MANIFEST_INVALID: { status: 422, retryable: false, hint: 'Fix the definition at the place in the message.' },
  MANIFEST_DUPLICATE_NAME: { status: 422, retryable: false, hint: 'Give each function, agent, human and plan its own name.' },
  MANIFEST_DUPLICATE_KEY: { status: 422, retryable: false, hint: 'Keep one of the two keys, in one spelling.' },
  MANIFEST_TOO_LARGE: { status: 413, retryable: false, hint: 'Keep the manifest under 256 KiB; move prompts, schemas and templates to files.' },
  PATH_ESCAPE: { status: 403, retryable: false, hint: 'Give a relative path inside the folder, without .. and without links.' },
  CONDITION_UNSUPPORTED: { status: 422, retryable: false, hint: 'Write column = value, joined by AND; operators are = != < <= > >= and IN.' },
  PLAN_SYNTAX: { status: 422, retryable: false, hint: 'Write one line per step: `c. Send emails (requires steps a and b)`.' },
  PLAN_QUESTION: { status: 422, retryable: false, hint: 'Answer the question: write the plan step by step, or use one of the known sentences.' },
  PLAN_NOT_APPROVED: { status: 409, retryable: false, hint: 'A person must approve this revision: POST /api/plans/{id}/approve with its hash.' },
  PLAN_STALE: { status: 409, retryable: false, hint: 'The plan has changed. Read it again, then approve the new revision.' },
  PLAN_CYCLE: { status: 422, retryable: false, hint: 'Remove one of the dependencies in the cycle.' },
  PLAN_UNASSIGNED: { status: 422, retryable: false, hint: 'Assign the step: assigned_to, default_modality or a type. In a text plan, the words of a line name the function, agent or human.' },
  PLAN_BAD_REF: { status: 422, retryable: false, hint: 'Name a step of the same plan.' },
  FILE_NAME_CASE: { status: 422, retryable: false, hint: 'Spell the file name as in the manifest: other machines distinguish upper and lower case.' },
  INSTANT_WITHOUT_ZONE: { status: 422, retryable: false, hint: 'Write the instant with its offset, like 2026-03-01T09:00:00Z or +01:00.' },
  POLICY_CONFLICT: { status: 422, retryable: false, hint: 'Keep one of the options that exclude each other.' },
  SCHEDULE_NEVER_FIRES: { status: 422, retryable: false, hint: 'Fix the expression, or start, end and exclude: together they leave no slot.' },
  SCHEDULE_TZ_REQUIRED: { status: 422, retryable: false, hint: 'Name the IANA time zone, like Europe/Berlin or UTC.' },
  SCHEDULE_ENDED: { status: 409, retryable: false, hint: 'The schedule has no slots left; declare a later end.' },
  AGENT_CANNOT_DECIDE: { status: 403, retryable: false, hint: 'A person must decide; agents and services cannot.' },
  TASK_FORBIDDEN: { status: 403, retryable: false, hint: 'Ask one of the assignees, or have the task reassigned to you.' },
  SEPARATION_OF_DUTIES: { status: 403, retryable: false, hint: 'A person who did not take part must decide.' },
  REQUESTER_UNKNOWN: { status: 422, retryable: false, hint: 'Start it as a person (a token of kind user, --as on loopback, `by` in code), or name the person in the field `requester` or `requested_by`.' },
  TASK_WITHDRAWN: { status: 409, retryable: false, hint: 'The run of this task has ended or was cancelled; retry the run to ask again.' },
  TASK_CLOSED: { status: 409, retryable: false, hint: 'The task is already decided; read its decision.' },
  TASK_CLAIMED: { status: 409, retryable: false, hint: 'Ask the claimant to unclaim it; a decision needs no claim.' },
  STALE_VIEW: { status: 409, retryable: false, hint: 'The task has changed since you read it. Read it again, then decide.' },
  DRAFTS_NEWER: { status: 409, retryable: false, hint: 'You have newer drafts. Read the task again, then decide with its draft_revision.' },
  CONSENT_MISMATCH: { status: 409, retryable: false, hint: 'The action is not the one that was approved. Check the run, and ask for a new approval.' },
  ESCALATION_EXHAUSTED: { status: 409, retryable: false, hint: 'There is no higher level; decide, or reassign the task.' },
  QUORUM_IMPOSSIBLE: { status: 422, retryable: false, hint: 'Lower the quorum, or assign the task to more people or a group.' },
  ACTION_NOT_ALLOWED: { status: 422, retryable: false, hint: 'Use one of the allowed_actions of the task.' },
  REASON_REQUIRED: { status: 422, retryable: false, hint: 'Send a reason with this action.' },
  CONFIRMATION_REQUIRED: { status: 422, retryable: false, hint: 'Type the text in the message: confirm in the body, or --confirm.' },
  WARNING_NOT_ACKNOWLEDGED: { status: 409, retryable: false, hint: 'Read the warning. To continue, send acknowledged: true, or --acknowledge.' },
  FIELDS_REQUIRED: { status: 422, retryable: false, hint: 'Fill in the fields in the message.' },
  MODIFICATION_INVALID: { status: 422, retryable: false, hint: 'Nothing was decided. Fix the fields in the message and send it again.' },
  REQUEST_IN_PROGRESS: { status: 409, retryable: false, hint: 'The first request still runs. Send the same request again after the seconds in retry-after.' },
  REQUEST_UNANSWERED: { status: 409, retryable: false, hint: 'The first request ended without a stored answer. Check what it did; if its work is missing, send it with a new idempotency key.' },
  ANSWER_NOT_KEPT: { status: 409, retryable: false, hint: 'List the tokens and revoke the unusable one; then send the request with a new idempotency key.' },
  IDEMPOTENCY_MISMATCH: { status: 422, retryable: false, hint: 'Use a new idempotency key for a new request.' },
  COST_TOO_HIGH: { status: 422, retryable: false, hint: 'Lower the cost, or raise the limit of the throttle.' },
  MODULE_DENIED: { status: 403, retryable: false, hint: 'Add the capability to the module, or move the step.' },
  MODULE_PROCESS_LOST: { status: 500, retryable: true, hint: 'The process of an isolated module ended or stopped responding while it ran code; see its output. For steps that may happen only once, a person is asked.' },
  ISOLATION_UNAVAILABLE: { status: 503, retryable: false, hint: 'Use a version of Node.js that docs/modules.md lists, or remove isolation from the module.' },
  OPERATION_NOT_ALLOWED: { status: 403, retryable: false, hint: 'Declare the operation in allowedOperations.' },
  FUNCTION_INTERNAL: { status: 403, retryable: false, hint: 'Send the event that triggers it; declare `internal: false` if it may be started by name.' },
  FUNCTION_NOT_IMPLEMENTED: { status: 422, retryable: false, hint: 'Implement the function, then start it again.' },
  FUNCTION_FAILED: { status: 500, retryable: true, hint: 'Read the error of the step; fix the function, then `trihand runs retry <id>`.' },
  EXECUTOR_FAILED: { status: 500, retryable: true, hint: 'Read the error of the executor in the message.' },
  EXECUTOR_THREW: { status: 500, retryable: true, hint: 'An executor must return a result, not throw. Report this to its author.' },
  ENVELOPE_INVALID: { status: 422, retryable: false, hint: 'Send the envelope of the executor contract, with exactly its keys.' },
  EXECUTOR_DUPLICATE: { status: 422, retryable: false, hint: 'Give the executor another type; each type has one executor.' },
  EXECUTOR_NOT_ALLOWED: { status: 403, retryable: false, hint: 'Add the executor to the chat, or ask for something else.' },
  EXECUTOR_UNKNOWN: { status: 422, retryable: false, hint: 'Register an executor of this type, or fix the spelling.' },
  MODEL_NOT_ALLOWED: { status: 422, retryable: false, hint: 'Add the model to allowed_models, or use a listed model.' },
  STEP_PARTIAL: { status: 422, retryable: false, hint: 'The result is incomplete. Raise its limits, or accept it with onPartial accept.' },
  WEBHOOK_UNSIGNED: { status: 422, retryable: false, hint: 'Give the webhook a secret, as a reference to the environment; or set auth: none and unsigned: true if only this machine can call it.' },
  TEMPLATE_UNSUPPORTED: { status: 422, retryable: false, hint: 'Write the template in Liquid, or install the package in the message.' },
  DOCUMENT_UNSUPPORTED: { status: 422, retryable: false, hint: 'Send text, Markdown, JSON, HTML, CSV, PDF or DOCX, with its media type.' },
  DOCUMENT_BROKEN: { status: 422, retryable: false, hint: 'The document cannot be read; the message says why.' },
  CLASS_NONE: { status: 422, retryable: false, hint: 'Add a matching rule, a model, or a default label.' },
  EMIT_NOT_DECLARED: { status: 422, retryable: false, hint: 'List the event under emits of the function.' },
  ROUTE_UNMATCHED: { status: 422, retryable: false, hint: 'Add the value to routes, or declare a default route.' },
  FAN_IN_TIMEOUT: { status: 422, retryable: false, hint: 'Raise the timeout of the fan-in, or declare what to emit on timeout.' },
  STATE_TRANSITION_INVALID: { status: 422, retryable: false, hint: 'Add the transition to the state machine, or find what changed the state of the entity.' },
  STEP_TIMEOUT: { status: 504, retryable: true, hint: 'Raise the timeout of the step, or split the step.' },
  STEP_ABORTED: { status: 500, retryable: true, hint: 'The run was cancelled or handed to another worker.' },
  STEP_AT_WORK: { status: 409, retryable: false, hint: 'The step may still run. Wait: the question appears in the inbox when its lease and its timeout have passed.' },
  STEP_UNCERTAIN: { status: 409, retryable: false, hint: 'Answer its task in the inbox, or with `trihand runs resolve <id> <step> happened|run_again|abort`.' },
  STEP_REFUSED: { status: 422, retryable: false, hint: 'A person chose to abort this step.' },
  STEP_NAME_INVALID: { status: 422, retryable: false, hint: 'Name a step with 1 to 128 characters, no control character and no [; a loop key goes into the option key.' },
  STEP_NOT_REACHED: { status: 422, retryable: false, hint: 'Name a step that the run has started; `trihand runs show <id>` lists them.' },
  STEP_MISUSED: { status: 422, retryable: false, hint: 'Call step functions from the handler, not from inside another step.' },
  INPUT_INVALID: { status: 422, retryable: false, hint: 'Change the input so that it matches the declared schema.' },
  OUTPUT_INVALID: { status: 422, retryable: false, hint: 'Change the result so that it matches the declared schema.' },
  RESULT_TOO_LARGE: { status: 422, retryable: false, hint: 'Keep a step result under 16 MiB; store larger content elsewhere.' },
  BATCH_ITEMS_FAILED: { status: 422, retryable: false, hint: 'Read the error of each item; failed items are retried by the retry policy of the function.' },
  HANDLER_PAUSED: { status: 409, retryable: false, hint: 'Resume it with `trihand handlers resume`, then send the request again.' },
  RUN_EXISTS: { status: 409, retryable: false, hint: 'A run that excludes this one exists. Wait until it has ended, or cancel it.' },
  RUN_BACKLOG_FULL: { status: 429, retryable: false, hint: 'Wait until queued runs have ended, or start fewer.' },
  QUEUE_FULL: { status: 429, retryable: true, hint: 'Send it again when the queue has room, or raise max_length.' },
  RUN_ENDED: { status: 409, retryable: false, hint: 'The run has ended; start a new one, or retry it if it failed.' },
  RUN_PAUSED: { status: 409, retryable: false, hint: 'Resume the run first: `trihand runs resume <id>`.' },
  RUN_AT_WORK: { status: 409, retryable: false, hint: 'The run is executing a step. Wait until it waits or has ended, or pause or cancel it; then send the request again.' },
  RUN_NOT_FAILED: { status: 409, retryable: false, hint: 'Only failed, cancelled, expired or quarantined runs can be retried.' },
  RUN_QUEUED: { status: 409, retryable: false, hint: 'The run is queued. Wait until it starts, or cancel it.' },
  RUN_CANCELLED: { status: 409, retryable: false, hint: 'The run was cancelled; retry it to continue.' },
  RUN_DEADLINE: { status: 422, retryable: false, hint: 'Raise deadline.finish, or find out why the run waited.' },
  RUN_START_EXPIRED: { status: 422, retryable: false, hint: 'Raise deadline.start, or add workers.' },
  FACT_BROKEN: { status: 409, retryable: false, hint: 'The stored history was changed after it was written. Run `trihand verify`, restore the history from a backup, then retry the run.' },
  SEAL_KEY_MISSING: { status: 500, retryable: false, hint: 'Set TRIHAND_SEAL_KEY to the keys of this ledger.' },
  SEAL_KEY_WRONG: { status: 500, retryable: false, hint: 'Add the key that the ledger was sealed with to the list in TRIHAND_SEAL_KEY, after the new one.' },
  LEDGER_NOT_SEALED: { status: 500, retryable: false, hint: 'A seal key needs a ledger that was sealed from its first entry: create a new ledger. If this ledger was sealed before, it was replaced or changed: restore it from a backup.' },
  LEDGER_KEY_MISSING: { status: 500, retryable: false, hint: 'Set TRIHAND_LEDGER_KEY to the encryption keys of this ledger; without them it cannot be read.' },
  LEDGER_KEY_WRONG: { status: 500, retryable: false, hint: 'Add the key that the ledger was encrypted with to the list in TRIHAND_LEDGER_KEY, after the new one.' },
  PAYLOAD_BROKEN: { status: 500, retryable: false, hint: 'Another program changed the database. Run `trihand verify`, and restore the row from a backup.' },
  RUN_QUARANTINED: { status: 500, retryable: false, hint: 'The run stopped the worker five times; fix the cause, then retry it.' },
  RUN_TOO_LONG: { status: 422, retryable: false, hint: 'A run can have 100,000 steps; split it into child runs.' },
  CHILD_FAILED: { status: 422, retryable: false, hint: 'Read the error of the child run in the message.' },
  RUN_WAITS_FOR_ITSELF: { status: 409, retryable: false, hint: 'Give the call `gate: none`, another overlap key, or do its work in this run.' },
  CHILD_DEPTH: { status: 422, retryable: false, hint: 'Child runs nest at most 16 levels deep; call fewer levels.' },
  FAN_OUT_LIMIT: { status: 422, retryable: false, hint: 'One event can start at most 1,000 runs; send several events.' },
  TURN_RUNNING: { status: 409, retryable: false, hint: 'A turn is running. Wait for its answer or stop it, then send the message again.' },
  SESSION_STATE_INVALID: { status: 409, retryable: false, hint: 'Use one of the commands that this state allows.' },
  STATE_CORRUPT: { status: 500, retryable: false, hint: 'The stored state does not match its hash; restore it from a checkpoint.' },
  CHECKPOINT_CORRUPT: { status: 500, retryable: false, hint: 'The checkpoint does not match its hash; use an earlier one.' },
  FACT_UNKNOWN: { status: 500, retryable: false, hint: 'A newer trihand wrote this run; upgrade this process.' },
  SHUTTING_DOWN: { status: 503, retryable: true, hint: 'This process is shutting down. Send the same request again, with its id or key, to a running server; the outcome may be unknown.' },
  LEDGER_CONFLICT: { status: 503, retryable: true, hint: 'Too many processes write to one run. Send the same request again.' },
  LEDGER_UNAVAILABLE: { status: 503, retryable: true, hint: 'The database does not answer. The outcome may be unknown: send the same request again.' },
  LEDGER_MISSING: { status: 503, retryable: true, hint: 'The ledger file was removed or replaced; nothing is accepted until it is back. Restore the same file under its name, or stop the process, restore the ledger from a backup and start again.' },
  LEDGER_CORRUPT: { status: 500, retryable: false, hint: 'Nothing was repaired. Stop the process and restore the ledger from a backup.' },
  LEDGER_IN_USE: { status: 503, retryable: false, hint: 'Another process has this file open. Connect to that process over HTTP, or stop it.' },
  LEDGER_NEWER: { status: 503, retryable: false, hint: 'A newer trihand wrote this ledger. Upgrade trihand, or open a backup from this version.' },
  LEDGER_OLDER: { status: 503, retryable: false, hint: 'Nothing was changed. Give the URL of the server that has this ledger open, or use the trihand version of that server.' },
  LEDGER_NOT_DURABLE: { status: 503, retryable: false, hint: 'The storage does not keep the durability settings; the message names them.' },
  LEDGER_ON_NETWORK_DISK: { status: 503, retryable: false, hint: 'Put the ledger on a local disk, or use Postgres.' },
  SQLITE_TOO_OLD: { status: 503, retryable: false, hint: 'Trihand needs SQLite 3.51.3 or newer; reinstall the package.' },
  FOLDER_READ_ONLY: { status: 500, retryable: false, hint: 'Give this user write permission, or use another place: TRIHAND_DATA for the folder, DATABASE_URL for the ledger.' },
  STORAGE_FULL: { status: 507, retryable: true, hint: 'Free disk space; work then continues automatically.' },
  BLOB_MISSING: { status: 500, retryable: false, hint: 'A stored payload is missing; restore the blobs together with the ledger.' },
  CALLBACK_UNSIGNED: { status: 422, retryable: false, hint: 'Set TRIHAND_CALLBACK_SECRET (or notices.callbackSecret) and start again, or omit callback_url.' },
  CONFIG_INVALID: { status: 422, retryable: false, hint: 'Fix the setting in the message.' },
  PEER_MISSING: { status: 422, retryable: false, hint: 'Install the package in the message, then start again.' },
  LOAD_FAILED: { status: 422, retryable: false, hint: 'Fix the file at the place in the message.' },
  NOT_A_TERMINAL: { status: 422, retryable: false, hint: 'Run it in a terminal, or give the flag in the message.' },
  PORT_IN_USE: { status: 503, retryable: false, hint: 'Choose another port with --port.' },
  SERVER_UNREACHABLE: { status: 503, retryable: true, hint: 'Start the server with `trihand dev`, or give its URL with --server.' },
  AGENT_MAX_TURNS: { status: 422, retryable: false, hint: 'Raise limits.max_turns, or give the agent a smaller task.' },
  AGENT_MAX_TOOL_CALLS: { status: 422, retryable: false, hint: 'Raise limits.max_tool_calls, or give the agent a smaller task.' },
  AGENT_LOOP: { status: 422, retryable: false, hint: 'The agent repeated itself, or its calls were refused. Read its calls, then change its instructions or its tools.' },
  AGENT_REPORTED_FAILURE: { status: 422, retryable: false, hint: 'The agent answered success: false; its answer says why.' },
  BUDGET_EXCEEDED: { status: 422, retryable: false, hint: 'Raise max_tokens or max_cost_usd, or give the agent a smaller task.' },
  BUDGET_UNPRICED: { status: 422, retryable: false, hint: 'Give the model a price under prices, or remove max_cost_usd.' },
  TOOL_NOT_ALLOWED: { status: 403, retryable: false, hint: 'Add the tool to allowed_tools of the agent if the agent may use it.' },
  TOOL_INPUT_INVALID: { status: 422, retryable: false, hint: 'Change the input so that it matches the schema of the tool.' },
  TOOL_FAILED: { status: 502, retryable: false, hint: 'Read the error of the tool in the message.' },
  SCOPE_WIDER: { status: 403, retryable: false, hint: 'A child cannot have a tool, a model or a budget that its parent lacks. Reduce the child, or extend the parent.' },
  PROMPT_MISSING: { status: 422, retryable: false, hint: 'Write agents/<name>/CLAUDE.md, or name the file with prompt.' },
  CONTEXT_MISSING: { status: 422, retryable: false, hint: 'The agent cannot start without the file, row or field in the message; provide it.' },
  CONTEXT_AMBIGUOUS: { status: 422, retryable: false, hint: 'Select the rows with where, by a field that the input has.' },
  SIMULATED_NO_SCRIPT: { status: 422, retryable: false, hint: 'Add the entry in the message to the script, or set the key of a model provider.' },
  SCRIPT_INVALID: { status: 422, retryable: false, hint: 'Fix the script of the simulated model at the place in the message.' },
  FILE_NOT_REGULAR: { status: 422, retryable: false, hint: 'Use a regular file: links, folders and devices are not read or written.' },
  FILE_BINARY: { status: 422, retryable: false, hint: 'The file is not text; use a text file.' },
  EDIT_NO_MATCH: { status: 422, retryable: false, hint: 'Read the file, and use text that occurs in it.' },
  EDIT_AMBIGUOUS: { status: 422, retryable: false, hint: 'Use a longer text that occurs once, or set replace_all.' },
  WORKSPACE_QUOTA: { status: 422, retryable: false, hint: 'Keep a workspace under 1,000 files and 64 MiB.' },
  CIRCUIT_OPEN: { status: 503, retryable: false, hint: 'The target failed too often. Calls continue automatically after a successful probe.' },
  NO_WORKER: { status: 503, retryable: false, hint: 'Start a worker with the required pool and labels: `trihand worker --pool … --labels …`.' },
  MODEL_AUTH: { status: 422, retryable: false, hint: 'Check the API key of the model provider and its permissions.' },
  MODEL_NOT_FOUND: { status: 422, retryable: false, hint: 'Check the model id and its base_url under defaults.models.' },
  MODEL_TIMEOUT: { status: 504, retryable: true, hint: 'Raise constraints.timeout_ms or allow a faster model.' },
  RATE_LIMITED: { status: 429, retryable: true, hint: 'The remote service limits requests. The engine waits and retries automatically.' },
  MODEL_UNAVAILABLE: { status: 503, retryable: true, hint: 'The model provider is not available; add fallback_models.' },
  MODEL_BAD_RESPONSE: { status: 502, retryable: true, hint: 'The model provider sent an invalid answer; the call is retried.' },
  MODEL_CONTEXT_FULL: { status: 422, retryable: false, hint: 'Send less, or allow a model with a larger context.' },
  MODEL_REJECTED: { status: 422, retryable: false, hint: 'The model provider refused the request; the message has its reason.' },
  MODEL_FILTERED: { status: 422, retryable: false, hint: 'The model provider withheld the answer; change the prompt or the model.' },
  URL_BLOCKED: { status: 403, retryable: false, hint: 'Allow the host in the module; addresses inside the own network are never allowed.' },
  FETCH_FAILED: { status: 502, retryable: true, hint: 'The remote server did not answer as expected; the message says why.' },
  TOOL_UNAVAILABLE: { status: 503, retryable: true, hint: 'The server behind the tool does not answer; see its own log.' },
  TOOL_CHANGED: { status: 409, retryable: false, hint: 'The tool has changed since the run recorded it. Check the tool, then start a new run.' },
  SCHEMA_NOT_EXPORTABLE: { status: 422, retryable: false, hint: 'Use a schema library that exports JSON Schema, or give JSON Schema directly.' },
  TOOL_EFFECT_MISSING: { status: 422, retryable: false, hint: 'Declare effect: none, idempotent or once.' },
  TOOL_NAME_CLASH: { status: 422, retryable: false, hint: 'Rename one of the tools: models see only A-Z a-z 0-9 _ and -.' },
  INTERNAL: { status: 500, retryable: true, hint: 'This is a bug; report it with the error id.' },
} as const satisfies Record<string, { status: number; retryable: boolean; hint: string }>

/** The code of an error: `NOT_FOUND`. Every code has a status, says whether a repeat can help, and a remedy. */
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

/** An error of trihand: what is wrong (`detail`), where (`place`), and what to do (`hint`). Recognise it by its `name`, never by instanceof. */
export class TrihandError extends Error {
  /** What went wrong, in one word: `NOT_FOUND`. */
  readonly code: ErrorCode
  /** What went wrong, in a sentence. */
  readonly detail: string
  /** Where in the definition it is wrong; null: nowhere. */
  readonly place: Place | null
  /** `not_done`: nothing was changed. `unknown`: it may have been done. */
  readonly outcome: 'not_done' | 'unknown'

  constructor(code: ErrorCode, detail: string, options: ErrorOptions = {}) {
    super(`${code}: ${detail}`, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'TrihandError'
    this.code = code
    this.detail = detail
    this.place = options.place ?? null
    this.outcome = options.outcome ?? 'not_done'
  }

  /** The HTTP status that fits the code. */
  get status(): number {
    return ERRORS[this.code].status
  }

  /** True: the same call may succeed later. */
  get retryable(): boolean {
    return ERRORS[this.code].retryable
  }

  /** What to do about it. */
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
