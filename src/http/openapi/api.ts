/**
 * What goes over the wire, in TypeScript. Written by `npm run api` from /openapi.json; do not edit.
 *
 * Owns the types that the server, the client, the command line and the web app share: the descriptions of the routes are their source.
 */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type Nothing = Readonly<Record<string, never>>

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly hint: string
  readonly place?: { readonly file?: string; readonly line?: number; readonly column?: number; readonly path?: string }
  /** under this name the error stands in the server's log */
  readonly error_id?: string
  /** of STALE_VIEW and DRAFTS_NEWER: what is in force now */
  readonly task?: TaskDetail
}

export interface Live {
  readonly status: 'ok'
  readonly version: string
  readonly pid: number
}

export interface Health {
  readonly status: 'ok' | 'unavailable'
  readonly version: string
  /** ok, or the code of what is wrong */
  readonly checks: { readonly [key: string]: string }
  /** a sentence for each check that is not ok */
  readonly reasons: readonly string[]
  readonly durable: boolean
  /** agents have no live model */
  readonly simulated: boolean
  /** which models those are, and why; null: none is simulated */
  readonly simulated_because: string | null
}

export interface Notice {
  readonly topic: 'runs' | 'events' | 'schedules' | 'tasks' | 'sessions'
  /** what to ask for again; null: any of the topic */
  readonly id: string | null
}

export interface StoredEvent {
  /** its place in the ledger */
  readonly sequence: number
  readonly id: string
  readonly source: string
  readonly type: string
  readonly subject: string | null
  readonly time: string
  readonly data: Json
  readonly correlation_id: string
  readonly causation_id: string | null
  readonly hops: number
}

export interface DelayedEvent {
  /** of the run that will send it */
  readonly id: string
  readonly type: string
  readonly subject: string | null
  readonly data: Json
  /** null: its time has come */
  readonly due_at: string | null
  readonly created_at: string
}

export interface EventCause {
  readonly kind: 'event' | 'run' | 'task' | 'schedule'
  readonly id: string
  /** the type of an event, the handler of a run, the title of a task */
  readonly name: string
  /** of an event */
  readonly sequence: number | null
}

export interface EventDetail {
  readonly event: StoredEvent
  /** what led to it, the nearest first */
  readonly causes: readonly EventCause[]
  /** that it started by itself */
  readonly runs: readonly Run[]
  /** that those runs have sent */
  readonly events: readonly StoredEvent[]
  /** handlers whose flow control has not decided yet */
  readonly pending: readonly string[]
  /** handlers that listen to this event and started no run of their own */
  readonly suppressed: readonly Suppression[]
}

export interface Suppression {
  readonly trigger: string
  readonly reason: 'filter' | 'error' | 'hop_limit' | 'reentry' | 'duplicate' | 'paused' | 'rate_limit' | 'debounced' | 'overlap' | 'fan_in' | 'cancelled' | 'joined'
  readonly detail: string
  /** that took the event in, or stood in its way */
  readonly run: string | null
}

export interface Receipt {
  readonly id: string
  /** its place in the ledger; 0: it is to be sent later */
  readonly sequence: number
  /** that it started */
  readonly runs: readonly string[]
  /** handlers whose flow control decides later; GET /api/events/{id} tells */
  readonly pending: readonly string[]
  /** the event was there already; id, sequence and runs are those of the first answer */
  readonly duplicate: boolean
  /** who listens to this event and was not started */
  readonly suppressed: readonly Suppression[]
  /** of an event with a delay: when it is sent; until then `id` is that of the run that will send it */
  readonly due_at?: string
}

export interface CloudEvent {
  readonly specversion: '1.0'
  readonly id: string
  readonly source: string
  readonly type: string
  readonly subject?: string
  readonly time?: string
  readonly datacontenttype?: string
  readonly dataschema?: string
  readonly data?: Json
  readonly data_base64?: string
  readonly traceparent?: string
}

export interface EventVerdict {
  readonly status: number
  readonly receipt?: Receipt
  readonly problem?: Problem
}

export interface Trigger {
  readonly kind: 'event' | 'after' | 'signal' | 'file' | 'table' | 'condition' | 'webhook'
  /** what it watches: an event type, a path, an expression */
  readonly name: string
  /** who starts; null for a webhook, which sends an event */
  readonly handler: string | null
  readonly event: string
  readonly filter: string | null
}

export interface DeadLetter {
  readonly webhook: string
  /** its id: what a replay names */
  readonly delivery: string
  readonly received_at: string
  /** the type of its body */
  readonly media: string
  /** the first 2,000 characters */
  readonly body: string
  /** why it made no event; null: nobody knows any more */
  readonly code: string | null
  readonly detail: string | null
}

export interface Rehearsal {
  readonly event: { readonly type: string; readonly data: Json }
  readonly starts: readonly string[]
  readonly suppressed: readonly ({ readonly trigger: string; readonly reason: 'filter' | 'error' | 'hop_limit' | 'reentry'; readonly detail: string })[]
}

export interface HumanOutcome {
  /** the action that was taken; expired or withdrawn if none was */
  readonly decision: string
  /** what was edited, by section or item; null: nothing */
  readonly modifications: Json
  /** the reason or comment */
  readonly feedback: string | null
  readonly decided_by: string | null
  readonly decided_at: string
}

export interface AgentOutcome {
  readonly structured_output: Json
  /** files that it left; the hash leads to the content */
  readonly artifacts: readonly { readonly path: string; readonly hash: string }[]
  readonly token_usage: { readonly input_tokens: number; readonly output_tokens: number }
  /** from the start of the run to its end, waiting included */
  readonly duration_ms: number
}

export interface WorkflowOutcome {
  readonly result: Json
  /** ids of the events that were sent with the result */
  readonly emitted_events: readonly string[]
  /** rows that were written with the result */
  readonly db_writes: readonly { readonly table: string; readonly key: string }[]
  /** from the start of the run to its end, waiting included */
  readonly duration_ms: number
}

export type Outcome = HumanOutcome | AgentOutcome | WorkflowOutcome

export type RunStatus = 'queued' | 'running' | 'waiting' | 'paused' | 'cancelling' | 'success' | 'partial' | 'failed' | 'cancelled' | 'expired' | 'quarantined'

export interface Run {
  readonly id: string
  readonly handler: string
  readonly status: RunStatus
  readonly session_id: string | null
  readonly parent_id: string | null
  /** sequence of the event that started it */
  readonly event: number | null
  /** how many facts it has */
  readonly version: number
  readonly wake_at: string | null
  readonly created_at: string
}

export interface Fact {
  readonly seq: number
  readonly type: string
  readonly at: string
  readonly step: string | null
  /** the fact in plain words */
  readonly text: string
  /** as it is stored, in the ledger's own spelling */
  readonly body: { readonly [key: string]: Json }
}

export interface WaitingOn {
  readonly kind: string
  readonly step: string | null
  readonly until: string | null
  readonly text: string
  /** where an uncertain step is answered */
  readonly task?: string | null
}

export interface SkippedStep {
  readonly step: string
  /** the step that people did not approve; null: another reason */
  readonly because: string | null
  readonly reason: string | null
}

export interface RunWhy {
  readonly id: string
  readonly status: RunStatus
  /** one sentence */
  readonly text: string
  readonly waiting_on: readonly WaitingOn[]
  /** steps of a plan that were not done */
  readonly skipped: readonly SkippedStep[]
}

export interface OpenRun {
  readonly id: string
  readonly handler: string
  readonly status: RunStatus
  /** of the code that it is pinned to */
  readonly version: string
  /** why nothing else can be read of it; null: everything can */
  readonly unreadable: string | null
  readonly input: Json
  readonly attempt: number
  /** that started it */
  readonly event: StoredEvent | null
  /** that started it, where they were several */
  readonly events: readonly StoredEvent[]
  /** why and for which slot, if a schedule started it */
  readonly schedule: { readonly [key: string]: Json } | null
  readonly steps: readonly ({ readonly step: string; readonly state: 'done' | 'failed' | 'received' | 'open'; readonly once: boolean; readonly value: Json; readonly error: { readonly code: string; readonly message: string } | null; readonly events: readonly StoredEvent[]; readonly timed_out: boolean; readonly missing: readonly string[]; readonly waits_for: readonly string[] })[]
}

export interface RunCounts {
  readonly queued: number
  readonly running: number
  readonly waiting: number
  readonly paused: number
  readonly cancelling: number
  readonly success: number
  readonly partial: number
  readonly failed: number
  readonly cancelled: number
  readonly expired: number
  readonly quarantined: number
  /** statuses with more runs than were counted: of these there are at least so many */
  readonly more: readonly RunStatus[]
}

export interface RunDetail {
  readonly id: string
  readonly handler: string
  readonly status: RunStatus
  readonly session_id: string | null
  readonly parent_id: string | null
  /** sequence of the event that started it */
  readonly event: number | null
  /** how many facts it has */
  readonly version: number
  readonly wake_at: string | null
  readonly created_at: string
  /** it does not go on, in one sentence */
  readonly why: string
  readonly waiting_on: readonly WaitingOn[]
  /** steps of a plan that were not done */
  readonly skipped: readonly SkippedStep[]
  readonly children: readonly Run[]
  readonly output: Json
  /** what stands around the output; null: it has not ended well */
  readonly outcome: Outcome | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly facts: { readonly items: readonly Fact[]; readonly next_cursor: string | null }
}

export interface RetriedRun {
  readonly id: string
  readonly handler: string
  readonly status: RunStatus
  readonly session_id: string | null
  readonly parent_id: string | null
  /** sequence of the event that started it */
  readonly event: number | null
  /** how many facts it has */
  readonly version: number
  readonly wake_at: string | null
  readonly created_at: string
  /** it waits for its turn: its flow control lets it go on */
  readonly waits: boolean
  /** steps of the run and of its failed children that are not repeated */
  readonly done: readonly string[]
}

export interface RerunPreview {
  readonly id: string
  readonly handler: string
  readonly from: string | null
  /** what the old run was given */
  readonly input: Json
  /** steps whose results stand */
  readonly reused: readonly string[]
  /** steps that are done again, in the order in which the old run came to them */
  readonly again: readonly { readonly step: string; readonly once: boolean; readonly asks: boolean; readonly reusable: boolean }[]
}

export interface Mark {
  readonly seq: number
  readonly type: string
  readonly at: string
  /** the fact in plain words */
  readonly text: string
  /** absent: it is about the run */
  readonly step?: string
  /** what the step, or the run, is from now on; absent: what it was */
  readonly becomes?: 'work' | 'human' | 'event' | 'child' | 'sleep' | 'retry' | 'doubt' | 'paused' | 'done' | 'failed' | 'skipped'
  readonly attempt?: number
  /** who does it; absent: code of a function */
  readonly hand?: 'agent' | 'human' | 'workflow'
  /** the run that was called, or the task that asks people */
  readonly child?: string
  /** when time alone ends it */
  readonly until?: string
  /** how long its work took, where that was measured */
  readonly ms?: number
  /** of the error */
  readonly code?: string
}

export interface Timeline {
  readonly id: string
  readonly handler: string
  readonly status: RunStatus
  readonly items: readonly Mark[]
  /** the place of the next fact; null: these were the last until now */
  readonly next_cursor: string | null
}

export interface StepError {
  readonly code: string
  readonly message: string
  /** the way out */
  readonly hint: string | null
}

export interface StepPrompt {
  readonly system: string
  readonly tools: readonly { readonly name: string; readonly description: string }[]
  /** without the marks around data */
  readonly messages: readonly ({ readonly role: 'user' | 'agent' | 'tool'; readonly content: Json })[]
}

export interface StepTool {
  readonly tool: string
  readonly input: Json
  /** which has performed it; null: none has yet */
  readonly step: string | null
  readonly output: Json
}

export interface StepDetail {
  readonly run: string
  /** null: the run as a whole */
  readonly step: string | null
  readonly input: Json
  readonly output: Json
  /** characters of a value that was too long for a fact, and is not here */
  readonly left_out: { readonly input: number | null; readonly output: number | null }
  /** what a model was asked; null: no model was */
  readonly prompt: StepPrompt | null
  /** what the model called, and what came of it */
  readonly tools: readonly StepTool[]
  /** by model */
  readonly spent: readonly CostRow[]
  /** what is odd about the use of models, in sentences */
  readonly notes: readonly string[]
  readonly error: StepError | null
}

export type BulkAction = 'cancel' | 'retry' | 'pause' | 'resume'

export interface RunFilter {
  readonly status?: RunStatus
  readonly handler?: string
  /** the id of a session */
  readonly session?: string
}

export interface Job {
  /** a run, which is watched, cancelled and retried as any other */
  readonly id: string
  readonly action: BulkAction
  /** null: the runs were named */
  readonly where: RunFilter | null
  readonly reason: string | null
  readonly by: string
  readonly status: RunStatus
  /** runs that were found so far */
  readonly total: number
  /** false: it still looks for more */
  readonly is_total_known: boolean
  readonly done: number
  readonly failed: number
  readonly failures: readonly { readonly code: string; readonly count: number; readonly detail: string; readonly runs: readonly string[] }[]
  readonly created_at: string
}

export interface SavedFilter {
  readonly id: string
  readonly name: string
  readonly screen: 'runs' | 'inbox'
  /** each a parameter of the list */
  readonly terms: { readonly [key: string]: string }
  /** what If-Match names */
  readonly version: number
  readonly created_at: string
  readonly updated_at: string
}

export type TaskType = 'approval' | 'input' | 'review' | 'decision'

export type TaskStatus = 'pending' | 'in_review' | 'revision_requested' | 'approved' | 'rejected' | 'completed' | 'expired' | 'withdrawn'

export interface TaskCounts {
  readonly pending: number
  readonly in_review: number
  readonly revision_requested: number
  /** statuses with more tasks than were counted: of these there are at least so many */
  readonly more: readonly TaskStatus[]
}

export type TaskOrigin = 'human' | 'tool_approval' | 'question' | 'escalation' | 'uncertain' | 'loop'

export interface TaskSummary {
  readonly id: string
  readonly run_id: string
  readonly step_id: string
  readonly type: TaskType
  readonly title: string
  readonly status: TaskStatus
  readonly is_open: boolean
  readonly claimed_by: string | null
  readonly deadline: string | null
  readonly level: number
  /** user:ana, group:editors */
  readonly assignees: readonly string[]
  readonly priority: number
  readonly is_overdue: boolean
  readonly created_at: string
  readonly updated_at: string
  readonly decision: string | null
  readonly decided_by: string | null
  readonly decided_at: string | null
  /** how many it has */
  readonly items: number
  /** how many of them people have changed */
  readonly edited: number
  readonly origin: TaskOrigin
  /** who wanted it, if a person did */
  readonly requester: string | null
  readonly escalation_reason: string | null
  /** who else looks at it now */
  readonly viewing: string | null
  readonly votes: number
  /** tasks of one cause can be answered together: worker eu-1 */
  readonly cause: string | null
}

export interface TaskItem {
  readonly id: string
  readonly title: string
  readonly status: string
  readonly content: Json
}

export interface TaskSection {
  readonly id: string
  readonly type: string
  readonly title: string
  readonly content: Json
  readonly is_editable: boolean
  readonly items: readonly TaskItem[]
}

export interface TaskAction {
  readonly name: string
  readonly label: string
  readonly requires_reason: boolean
  readonly required_fields: readonly string[]
  /** JSON Schema of the fields that the action takes; null: any */
  readonly fields_schema: Json
  readonly is_terminal: boolean
  /** the event that it sends */
  readonly emits: string | null
  /** what the person types to confirm it */
  readonly confirm: string | null
  /** what the person must acknowledge before it is taken */
  readonly warning: string | null
}

export interface TaskDraft {
  readonly item: string | null
  readonly content: Json
  readonly is_stale: boolean
}

export interface TaskDetail {
  readonly id: string
  readonly run_id: string
  readonly step_id: string
  readonly type: TaskType
  readonly title: string
  readonly status: TaskStatus
  readonly is_open: boolean
  readonly claimed_by: string | null
  readonly deadline: string | null
  readonly level: number
  readonly handler: string
  readonly version: number
  readonly name: string
  readonly instructions: string
  readonly context: Json
  /** what an agent says about it; not part of what is consented to */
  readonly remarks: string | null
  /** what a decision must name */
  readonly shown_hash: string
  readonly revision: number
  readonly assignees: { readonly users: readonly string[]; readonly groups: readonly string[] }
  readonly origin: TaskOrigin
  /** tasks of one cause can be answered together */
  readonly cause: string | null
  readonly requester: string | null
  readonly priority: number
  readonly created_at: string
  readonly escalation: { readonly by: string; readonly reason: string } | null
  readonly quorum: { readonly approve: number; readonly reject: number }
  /** in the caller's inbox */
  readonly put_off_until: string | null
  readonly viewed_by: readonly string[]
  readonly sections: readonly TaskSection[]
  readonly actions: readonly TaskAction[]
  /** those that the caller may take now */
  readonly allowed_actions: readonly string[]
  /** the caller's own, not submitted yet */
  readonly drafts: readonly TaskDraft[]
  /** how many drafts of it the caller has saved; a decision names the one that it has seen */
  readonly draft_revision: number
  readonly votes: readonly { readonly by: string; readonly action: string }[]
  /** who may vote or decide now: these people, and members of these groups except those named; none while a revision is awaited */
  readonly may_vote: { readonly users: readonly string[]; readonly groups: readonly string[]; readonly except: readonly string[] }
  readonly end: { readonly decision: string; readonly modifications: Json; readonly feedback: string | null; readonly decided_by: string | null; readonly decided_at: string; readonly fields: { readonly [key: string]: Json } } | null
  readonly approved: readonly string[]
  readonly rejected: readonly string[]
}

export interface TaskHappening {
  readonly at: string
  readonly what: string
  readonly by: string | null
  readonly text: string
  /** those it is about; none: the whole */
  readonly items: readonly string[]
}

export interface TaskMarks {
  /** items of which the rule is true */
  readonly marked: readonly string[]
  /** items of which it cannot say */
  readonly unclear: readonly { readonly item: string; readonly detail: string }[]
  readonly task: TaskDetail
}

export interface InboxViews {
  readonly mine: number
  readonly groups: number
  readonly unassigned: number
  readonly overdue: number
  readonly escalated: number
  readonly later: number
  /** of these there are at least so many */
  readonly more: readonly ('mine' | 'groups' | 'unassigned' | 'overdue' | 'escalated' | 'later')[]
}

export interface TaskVerdict {
  readonly task: string
  readonly status: number
  readonly state?: string
  readonly problem?: Problem
}

export interface Me {
  readonly id: string
  readonly tenant: string
  readonly kind: 'user' | 'service' | 'agent'
  readonly roles: readonly ('viewer' | 'decider' | 'operator' | 'admin')[]
  readonly groups: readonly string[]
  /** false: somebody at this machine who has not said their name */
  readonly is_named: boolean
  /** the server knows who is asking, and nobody need say it */
  readonly is_login: boolean
  /** there is a login of this server to end */
  readonly can_log_out: boolean
}

export interface Token {
  readonly id: string
  readonly tenant: string
  readonly kind: 'user' | 'service' | 'agent'
  readonly roles: readonly ('viewer' | 'decider' | 'operator' | 'admin')[]
  readonly groups: readonly string[]
  /** the person, service or agent that it stands for */
  readonly name: string
  readonly status: 'active' | 'expired' | 'revoked'
  readonly created_at: string
  readonly created_by: string
  readonly expires_at: string
  readonly revoked_at: string | null
}

export interface NewToken {
  readonly id: string
  readonly tenant: string
  readonly kind: 'user' | 'service' | 'agent'
  readonly roles: readonly ('viewer' | 'decider' | 'operator' | 'admin')[]
  readonly groups: readonly string[]
  /** the person, service or agent that it stands for */
  readonly name: string
  readonly status: 'active' | 'expired' | 'revoked'
  readonly created_at: string
  readonly created_by: string
  readonly expires_at: string
  readonly revoked_at: string | null
  /** the secret, shown this once */
  readonly token: string
}

export interface ConfiguredSetting {
  readonly name: string
  readonly meaning: string
  /** null: not set, or a secret */
  readonly value: string | null
  readonly source: 'flag' | 'environment' | '.env' | 'default'
  readonly is_secret: boolean
}

export interface WebhookEndpoint {
  readonly name: string
  /** each delivery is a run of it */
  readonly handler: string
  /** its host, or the reference that it was written as */
  readonly url: string
  readonly events: readonly string[]
  readonly is_signed: boolean
  /** null: it took what it was sent last */
  readonly failing_since: string | null
  /** why nothing is sent to it; null: it is on */
  readonly off: string | null
}

export interface DeliveryTry {
  readonly at: string
  readonly kind: 'delivered' | 'failed' | 'unwanted' | 'off'
  readonly detail: string
}

export interface WebhookDelivery {
  /** the run that delivers */
  readonly id: string
  readonly status: string
  /** its sequence */
  readonly event: number | null
  readonly created_at: string
  /** of its next try; null: there is none to come */
  readonly next_at: string | null
  readonly tries: readonly DeliveryTry[]
}

export interface Schedule {
  readonly name: string
  readonly target: { readonly kind: string; readonly name: string }
  /** in the words it was written in */
  readonly timing: string
  /** when it fires; null: it cannot be said better */
  readonly english: string | null
  readonly tz: string
  readonly status: 'live' | 'paused' | 'ended'
  readonly next_at: string | null
  /** the slots to come, at most five */
  readonly next: readonly string[]
  /** when the clocks of its zone are next put forward, or back (less than 0); null: not within a year */
  readonly clock_change: { readonly at: string; readonly minutes: number } | null
  readonly policies: SchedulePolicies
  readonly fired: number
  readonly running: number
  readonly waiting: number
  readonly last: { readonly run_id: string; readonly slot: string; readonly status: string } | null
  readonly paused_by: string | null
  readonly paused_reason: string | null
}

export interface SchedulePolicies {
  /** what happens if the run before has not ended */
  readonly overlap: string
  readonly missed: 'run_once' | 'skip' | 'run_all'
  /** how far back a missed slot is worth a run */
  readonly missed_window: string
  readonly missed_max: number
  /** a duration, as 24h */
  readonly jitter: string
  readonly starts: string | null
  readonly ends: string | null
  /** how many are cut out of its calendar */
  readonly exclusions: number
  readonly max_runs: number | null
  readonly pause_on_failures: number | null
  readonly adaptive: { readonly min: string; readonly max: string } | null
}

export interface ScheduleSlot {
  readonly slot: string
  /** the last of a range that was skipped */
  readonly until: string
  readonly count: number
  /** the status of its run, waiting, or skipped */
  readonly outcome: string
  readonly run_id: string | null
  readonly origin: 'slot' | 'missed' | 'backfill' | 'now' | null
  /** why it was skipped */
  readonly reason: string | null
}

export interface BackfillCount {
  readonly count: number
  readonly first: string | null
  readonly last: string | null
}

export interface Queue {
  readonly name: string
  /** who works through it; null: nobody */
  readonly handler: string | null
  /** messages that wait */
  readonly length: number
  readonly max_length: number
  readonly on_full: 'reject' | 'block' | 'drop_oldest'
  /** messages that are being worked on */
  readonly in_flight: number
  /** messages that were given up */
  readonly dead: number
}

export interface QueueReceipt {
  readonly id: string
  readonly sequence: number
  readonly duplicate: boolean
}

export interface PlanStep {
  readonly id: string
  readonly name: string
  /** who chose the name: what a model chose says nothing of what is done */
  readonly named_by: 'model' | 'person'
  readonly requires: readonly string[]
  /** the handler, or people, wait, nobody */
  readonly by: string
  readonly hand: 'agent' | 'human' | 'workflow' | null
  /** what is done, in words */
  readonly operation: string
  readonly inputs: readonly { readonly path: string; readonly value: Json; readonly from: readonly string[] }[]
  /** where the input comes from if none was written */
  readonly input_from: string | null
  readonly effect: 'idempotent' | 'once' | 'transactional' | null
  /** tools of an agent, operations of a function; null: it is not limited */
  readonly may: readonly string[] | null
  /** what models may cost in one run; null: no limit is set */
  readonly cost_limit_usd: number | null
  /** conditions, repetitions, waits, what follows a failure or a no */
  readonly rules: readonly string[]
}

export interface PlanError {
  readonly code: string
  /** of the text; null: it was not written as text */
  readonly line: number | null
  readonly step: string | null
  readonly message: string
  readonly hint: string
}

export interface PlanSummary {
  readonly id: string
  readonly status: 'draft' | 'approved' | 'discarded'
  readonly goal: string
  /** who chose these words */
  readonly goal_by: 'model' | 'person'
  readonly revision: number
  /** names this revision: an approval is of exactly it */
  readonly hash: string
  readonly created_at: string
  readonly created_by: string
  readonly changed_at: string
}

export interface Plan {
  readonly id: string
  readonly status: 'draft' | 'approved' | 'discarded'
  readonly goal: string
  /** who chose these words */
  readonly goal_by: 'model' | 'person'
  readonly revision: number
  /** names this revision: an approval is of exactly it */
  readonly hash: string
  readonly created_at: string
  readonly created_by: string
  readonly changed_at: string
  readonly version: number
  /** as people read it */
  readonly text: string
  /** the steps in full, where the text does not say it all */
  readonly source: Json | null
  readonly steps: readonly PlanStep[]
  /** what every run works on, approved with the steps; null: each run is given its own */
  readonly input: Json
  readonly errors: readonly PlanError[]
  readonly approval: { readonly by: string; readonly at: string; readonly hash: string; readonly revision: number } | null
  /** the last ones, newest first */
  readonly runs: readonly { readonly id: string; readonly status: string; readonly created_at: string }[]
}

export interface PlanRun {
  readonly id: string
  readonly plan_id: string
  readonly hash: string
}

export interface Worker {
  readonly id: string
  /** null, as all that a worker of an older version does not tell */
  readonly name: string | null
  /** paused: it takes nothing new; stopped: it has seen that everything is stopped; draining: it leaves */
  readonly status: 'working' | 'paused' | 'stopped' | 'draining'
  readonly pool: string | null
  readonly labels: { readonly [key: string]: string }
  /** the modules whose functions it may run; null: all */
  readonly modules: readonly string[] | null
  readonly slots: number | null
  readonly leases: number
  readonly started_at: string | null
  readonly beat_at: string
}

export interface WorkerDetail {
  readonly id: string
  /** null, as all that a worker of an older version does not tell */
  readonly name: string | null
  /** paused: it takes nothing new; stopped: it has seen that everything is stopped; draining: it leaves */
  readonly status: 'working' | 'paused' | 'stopped' | 'draining'
  readonly pool: string | null
  readonly labels: { readonly [key: string]: string }
  /** the modules whose functions it may run; null: all */
  readonly modules: readonly string[] | null
  readonly slots: number | null
  readonly leases: number
  readonly started_at: string | null
  readonly beat_at: string
  /** what it has the lease of, oldest first, at most 100 */
  readonly runs: readonly Run[]
}

export interface Pool {
  /** null: workers in no pool, and runs that name none, which any worker takes that fits */
  readonly name: string | null
  readonly labels: { readonly [key: string]: string }
  /** the modules whose functions may run here; null: all */
  readonly modules: readonly string[] | null
  /** how many workers there should be */
  readonly min: number
  /** how many of its workers take runs; null: all */
  readonly max: number | null
  /** how many live */
  readonly workers: number
  /** how many of them take runs now */
  readonly taking: number
  /** how many runs those can hold at once */
  readonly capacity: number
  /** leases of all its workers */
  readonly used: number
  /** runs that are due and that nobody has */
  readonly queued: number
  /** there are at least so many */
  readonly more: boolean
  /** since when the first of them has been due */
  readonly oldest_at: string | null
}

export interface Circuit {
  /** what is called */
  readonly key: string
  readonly status: 'closed' | 'open' | 'half_open'
  /** nothing passes before; half open: when the probe is given up */
  readonly until: string | null
  /** how often it has opened */
  readonly openings: number
  /** those whose steps it holds back; one that works its key out from data is not named */
  readonly handlers: readonly string[]
}

export interface Stop {
  /** no step begins anywhere */
  readonly is_stopped: boolean
  readonly by: string | null
  readonly reason: string | null
  readonly at: string | null
}

export interface Finding {
  readonly level: 'error' | 'warning' | 'info'
  readonly code: string
  readonly message: string
  readonly file: string
  readonly line: number
  readonly column: number
  /** dotted, with the names of things */
  readonly path: string
  readonly hint: string
}

export interface System {
  readonly name: string
  /** pins each run to the definition it was started under */
  readonly hash: string
  readonly events: readonly string[]
  readonly handlers: readonly ({ readonly name: string; readonly modality: 'agent' | 'human' | 'workflow'; readonly input_schema: Json })[]
  readonly findings: readonly Finding[]
}

export interface ManifestVersion {
  readonly hash: string
  /** null: known only by the runs that are pinned to it */
  readonly name: string | null
  /** new runs follow it */
  readonly is_current: boolean
  /** when a process first loaded it; null: not recorded */
  readonly first_seen_at: string | null
  /** runs that may still go on */
  readonly open_runs: number
  /** there are at least so many */
  readonly more: boolean
}

export interface GraphNode {
  readonly id: string
  readonly kind: 'event' | 'agent' | 'function' | 'human' | 'plan' | 'schedule' | 'webhook' | 'state'
  readonly name: string
  readonly modality: 'agent' | 'human' | 'workflow' | null
  /** its runs now; null for what is no handler */
  readonly counts: { readonly running: number; readonly waiting: number; readonly failed: number; readonly more: readonly ('running' | 'waiting' | 'failed')[] } | null
  /** whether the code of a function of a module runs in a process of its own; null: it is in no module */
  readonly isolation: 'process' | 'none' | null
  readonly findings: readonly Finding[]
}

export interface GraphEdge {
  readonly from: string
  readonly to: string
  readonly kind: 'hears' | 'sends' | 'starts' | 'moves'
  readonly label: string
}

export interface Graph {
  readonly name: string
  readonly hash: string
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  readonly findings: readonly Finding[]
  /** the same graph as Mermaid text */
  readonly mermaid: string
}

export interface Session {
  readonly id: string
  readonly forked_from: string | null
  readonly version: number
  readonly created_at: string
}

export interface SessionMemory {
  readonly key: string
  /** null where it is too large to show */
  readonly value: Json
  /** of what is too large to show */
  readonly bytes: number | null
  /** since the last checkpoint */
  readonly is_changed: boolean
}

export interface SessionDetail {
  readonly id: string
  readonly forked_from: string | null
  readonly version: number
  readonly created_at: string
  readonly status: 'live' | 'ended'
  readonly mode: string
  /** its last checkpoint */
  readonly head: string | null
  readonly memory: readonly SessionMemory[]
  readonly forks: readonly Session[]
}

export interface SessionDifference {
  readonly a: string
  readonly b: string
  /** keys that differ; a side that is null has not the key */
  readonly items: readonly ({ readonly key: string; readonly before: RememberedValue | null; readonly after: RememberedValue | null })[]
}

export interface RememberedValue {
  /** null where it is too large to show */
  readonly value: Json
  /** of what is too large to show */
  readonly bytes: number | null
}

export interface Checkpoint {
  readonly seq: number
  readonly kind: 'created' | 'checkpoint' | 'ended'
  readonly id: string | null
  readonly parents: readonly string[]
  readonly root: string | null
  readonly mode: string | null
  readonly at: string
  /** of the memory, since the one before */
  readonly changes: number
}

export interface ChatDefinition {
  readonly name: string
  readonly description: string
  readonly agent: string
  readonly executors: readonly { readonly name: string; readonly description: string; readonly needs_approval: boolean }[]
  readonly on_message_while_running: 'enqueue' | 'interrupt' | 'reject'
}

export interface ChatSummary {
  readonly id: string
  /** the chat of the system that it was begun with */
  readonly name: string
  readonly title: string
  readonly updated_at: string
}

export interface ChatMessage {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly metadata: Json
  readonly parts: readonly Json[]
}

export interface Chat {
  readonly id: string
  /** the chat of the system that it was begun with */
  readonly name: string
  readonly title: string
  readonly updated_at: string
  readonly messages: readonly ChatMessage[]
  /** the run of the turn that goes on */
  readonly running: string | null
}

export interface ChatList {
  readonly items: readonly ChatSummary[]
  readonly chats: readonly ChatDefinition[]
}

export interface Spent {
  readonly calls: number
  readonly input_tokens: number
  readonly output_tokens: number
  /** of the calls whose price is known; null: of none */
  readonly cost_usd: number | null
  readonly unpriced_calls: number
  readonly unpriced_tokens: number
  /** of the calls: those that gave no answer that counts */
  readonly failed_calls: number
  /** what others say that the calls without a known price have cost, which nobody has checked; null: nobody says */
  readonly unverified_usd: number | null
}

export interface CostRow {
  readonly day: string | null
  readonly agent: string | null
  readonly model: string | null
  /** a script answered: nothing was paid */
  readonly simulated: boolean
  readonly calls: number
  readonly input_tokens: number
  readonly output_tokens: number
  /** of the calls whose price is known; null: of none */
  readonly cost_usd: number | null
  readonly unpriced_calls: number
  readonly unpriced_tokens: number
  /** of the calls: those that gave no answer that counts */
  readonly failed_calls: number
  /** what others say that the calls without a known price have cost, which nobody has checked; null: nobody says */
  readonly unverified_usd: number | null
}

export interface Costs {
  readonly from: string
  readonly to: string
  readonly by: readonly ('day' | 'agent' | 'model')[]
  readonly items: readonly CostRow[]
  readonly total: Spent
}

export interface RunCosts {
  readonly from: string
  readonly to: string
  /** runs that paid a model in these days, the newest, at most 500 */
  readonly looked_at: number
  /** that ended well, with every price known */
  readonly finished: number
  /** of a finished run; null: there is none */
  readonly p50_usd: number | null
  readonly p95_usd: number | null
  /** that ended otherwise */
  readonly failed: number
  /** what those have cost */
  readonly wasted_usd: number
  /** that have ended, with a price that nobody knows */
  readonly unpriced: number
  /** that have not ended */
  readonly open: number
}

/** Every operation by its id: what it takes, what it answers. */
export interface Api {
  /** Can it work: the ledger is read and written, and what is due is taken. */
  readonly getHealth: { readonly input: Nothing; readonly output: Health }
  /** Can it work: the ledger is read and written, and what is due is taken. */
  readonly getReadiness: { readonly input: Nothing; readonly output: Health }
  /** The same document as /health, for a page: the answer is 200 also while the server is not ready. */
  readonly showHealth: { readonly input: Nothing; readonly output: Health }
  /** Is it alive, and which process is it. */
  readonly getLiveness: { readonly input: Nothing; readonly output: Live }
  /** Who is asking, and what they may do. */
  readonly getMe: { readonly input: Nothing; readonly output: Me }
  /** Tokens, newest first, without their secrets. */
  readonly listTokens: { readonly input: Nothing; readonly output: { readonly items: readonly Token[]; readonly next_cursor: string | null } }
  /** Makes a token; the answer is the only place where its secret is seen. */
  readonly createToken: { readonly input: { readonly body: { readonly name: string; readonly kind: 'user' | 'service' | 'agent'; readonly roles: readonly ('viewer' | 'decider' | 'operator' | 'admin')[]; readonly groups?: readonly string[]; readonly tenant?: string; readonly expires_in?: string } }; readonly output: NewToken }
  /** Ends a token, from the next request on. */
  readonly revokeToken: { readonly input: { readonly path: { readonly id: string } }; readonly output: Token }
  /** What the server is set to, and by whom; secrets are not shown. */
  readonly getConfiguration: { readonly input: Nothing; readonly output: { readonly items: readonly ConfiguredSetting[]; readonly next_cursor: string | null } }
  /** Events that are to be sent later, the last that was asked for first. */
  readonly listDelayedEvents: { readonly input: { readonly query?: { readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly DelayedEvent[]; readonly next_cursor: string | null } }
  /** Takes an event back that is to be sent later; answers what it was. */
  readonly cancelEvent: { readonly input: { readonly path: { readonly id: string } }; readonly output: DelayedEvent }
  /** One event by its sequence or its id: what led to it, and what it led to. */
  readonly getEvent: { readonly input: { readonly path: { readonly id: string }; readonly query?: { readonly source?: string } }; readonly output: EventDetail }
  /** Events, newest first. */
  readonly listEvents: { readonly input: { readonly query?: { readonly type?: string; readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly StoredEvent[]; readonly next_cursor: string | null } }
  /** Sends an event, in short or as a CloudEvent; a repeat with the same source and id gets the first answer. */
  readonly sendEvent: { readonly input: { readonly body: { readonly type: string; readonly data?: Json; readonly id?: string; readonly source?: string; readonly subject?: string; readonly time?: string; readonly delay?: string } }; readonly output: Receipt }
  /** Cancels, retries, pauses or resumes many runs; a job that goes on by itself. */
  readonly bulkRuns: { readonly input: { readonly body: { readonly action: BulkAction; readonly where?: RunFilter; readonly ids?: readonly string[]; readonly reason?: string } }; readonly output: Job }
  /** How far a job has come: done, failed and why, found so far. */
  readonly getJob: { readonly input: { readonly path: { readonly id: string } }; readonly output: Job }
  /** Runs that have not ended, with the values of their steps: for holding new code against them. */
  readonly listOpenRuns: { readonly input: { readonly query?: { readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly OpenRun[]; readonly next_cursor: string | null } }
  /** Runs, newest first. */
  readonly listRuns: { readonly input: { readonly query?: { readonly status?: RunStatus; readonly handler?: string; readonly session?: string; readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly Run[]; readonly next_cursor: string | null } }
  /** Starts a function, an agent or a human by name, without an event. */
  readonly startRun: { readonly input: { readonly body: { readonly name: string; readonly input?: Json; readonly callback_url?: string; readonly session?: string } }; readonly output: { readonly id: string } }
  /** How many runs have each status. */
  readonly countRuns: { readonly input: Nothing; readonly output: RunCounts }
  /** One run: what it waits for, its children, its end, its first facts. */
  readonly getRun: { readonly input: { readonly path: { readonly id: string }; readonly query?: { readonly wait?: string } }; readonly output: RunDetail }
  /** Why a run does not go on, in one sentence. */
  readonly explainRun: { readonly input: { readonly path: { readonly id: string } }; readonly output: RunWhy }
  /** The facts of one run, oldest first. */
  readonly listFacts: { readonly input: { readonly path: { readonly id: string }; readonly query?: { readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly Fact[]; readonly next_cursor: string | null } }
  /** Asks a run to end. */
  readonly cancelRun: { readonly input: { readonly path: { readonly id: string }; readonly body?: { readonly reason?: string } }; readonly output: Run }
  /** Begins no step of a run until it is resumed; what is under way may finish. */
  readonly pauseRun: { readonly input: { readonly path: { readonly id: string }; readonly body?: { readonly reason?: string } }; readonly output: Run }
  /** Lets a paused run go on. */
  readonly resumeRun: { readonly input: { readonly path: { readonly id: string }; readonly body?: Nothing }; readonly output: Run }
  /** Begins a run again that has failed; finished steps stay finished. */
  readonly retryRun: { readonly input: { readonly path: { readonly id: string }; readonly body?: Nothing }; readonly output: RetriedRun }
  /** Answers the task that asks whether the effect of a step took place. */
  readonly resolveStep: { readonly input: { readonly path: { readonly id: string }; readonly body: { readonly step: string; readonly verdict: 'happened' | 'run_again' | 'abort'; readonly result?: Json; readonly reason?: string; readonly shown_hash?: string; readonly confirm?: string; readonly acknowledged?: boolean } }; readonly output: Run }
  /** What a rerun would do again, and which results would stand. */
  readonly previewRerun: { readonly input: { readonly path: { readonly id: string }; readonly query?: { readonly from?: string; readonly changed?: 'true' | 'false' } }; readonly output: RerunPreview }
  /** Runs a run once more as a new one; what was finished before a step stands, the rest is done again. */
  readonly rerunRun: { readonly input: { readonly path: { readonly id: string }; readonly body?: { readonly from?: string; readonly input?: Json; readonly reuse_decisions?: boolean } }; readonly output: { readonly id: string } }
  /** What became of a run and its steps when: its facts in short, at most 2,000 at once. */
  readonly getTimeline: { readonly input: { readonly path: { readonly id: string }; readonly query?: { readonly cursor?: string } }; readonly output: Timeline }
  /** One step of a run, or the run as a whole: what it was given, asked, used and answered. */
  readonly getStep: { readonly input: { readonly path: { readonly id: string }; readonly query?: { readonly name?: string } }; readonly output: StepDetail }
  /** One's own saved filters, by name. */
  readonly listFilters: { readonly input: Nothing; readonly output: { readonly items: readonly SavedFilter[]; readonly next_cursor: string | null } }
  /** Saves a filter under a name. */
  readonly createFilter: { readonly input: { readonly body: { readonly name: string; readonly screen: 'runs' | 'inbox'; readonly terms: { readonly [key: string]: string } } }; readonly output: SavedFilter }
  /** One saved filter. */
  readonly getFilter: { readonly input: { readonly path: { readonly id: string } }; readonly output: SavedFilter }
  /** Changes a saved filter; If-Match names the version that was seen. */
  readonly replaceFilter: { readonly input: { readonly path: { readonly id: string }; readonly body: { readonly name: string; readonly screen: 'runs' | 'inbox'; readonly terms: { readonly [key: string]: string } } }; readonly output: SavedFilter }
  /** Removes a saved filter. */
  readonly removeFilter: { readonly input: { readonly path: { readonly id: string } }; readonly output: null }
  /** Workers that beat. */
  readonly listWorkers: { readonly input: { readonly query?: { readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly Worker[]; readonly next_cursor: string | null } }
  /** One worker and what it holds: by id, its last digits, or its name. */
  readonly getWorker: { readonly input: { readonly path: { readonly id: string } }; readonly output: WorkerDetail }
  /** Orders a worker to finish what it has and leave. */
  readonly drainWorker: { readonly input: { readonly path: { readonly id: string }; readonly body?: Nothing }; readonly output: Worker }
  /** Orders a worker to take nothing new; what it has goes on. */
  readonly pauseWorker: { readonly input: { readonly path: { readonly id: string }; readonly body?: Nothing }; readonly output: Worker }
  /** Lets a paused worker take runs again. */
  readonly resumeWorker: { readonly input: { readonly path: { readonly id: string }; readonly body?: Nothing }; readonly output: Worker }
  /** Pools: what each can hold, what it holds, what waits for it and since when. */
  readonly listPools: { readonly input: Nothing; readonly output: { readonly items: readonly Pool[]; readonly next_cursor: string | null } }
  /** Circuit breakers: those that handlers name, and those that have opened. */
  readonly listCircuits: { readonly input: Nothing; readonly output: { readonly items: readonly Circuit[]; readonly next_cursor: string | null } }
  /** Closes a breaker; what waits already waits until the instant it was told. */
  readonly resetCircuit: { readonly input: { readonly path: { readonly key: string }; readonly body?: Nothing }; readonly output: Circuit }
  /** Whether everything is stopped, by whom and why. */
  readonly getStop: { readonly input: Nothing; readonly output: Stop }
  /** Lets no worker begin a step until the stop is lifted; what is under way may finish. */
  readonly stopEverything: { readonly input: { readonly body?: { readonly reason?: string } }; readonly output: Stop }
  /** Lets workers go on. */
  readonly liftStop: { readonly input: { readonly body?: Nothing }; readonly output: Stop }
  /** Who starts by what. */
  readonly listTriggers: { readonly input: Nothing; readonly output: { readonly items: readonly Trigger[]; readonly next_cursor: string | null } }
  /** What an event, or a delivery of a webhook, would start; nothing is sent. */
  readonly rehearseEvent: { readonly input: { readonly body: { readonly name: string; readonly data?: Json; readonly source?: string } }; readonly output: Rehearsal }
  /** Schedules, with their next slots. */
  readonly listSchedules: { readonly input: Nothing; readonly output: { readonly items: readonly Schedule[]; readonly next_cursor: string | null } }
  /** One schedule. */
  readonly getSchedule: { readonly input: { readonly path: { readonly name: string } }; readonly output: Schedule }
  /** What became of its last slots, oldest first: how each run ended, or why there was none. */
  readonly listSlots: { readonly input: { readonly path: { readonly name: string }; readonly query?: { readonly limit?: number } }; readonly output: { readonly items: readonly ScheduleSlot[]; readonly next_cursor: string | null } }
  /** Lets no slot of it fire. */
  readonly pauseSchedule: { readonly input: { readonly path: { readonly name: string }; readonly body?: { readonly reason?: string } }; readonly output: Schedule }
  /** Lets it fire again. */
  readonly resumeSchedule: { readonly input: { readonly path: { readonly name: string }; readonly body?: Nothing }; readonly output: Schedule }
  /** Starts one run of it now, beside its slots. */
  readonly runSchedule: { readonly input: { readonly path: { readonly name: string }; readonly body?: { readonly id?: string } }; readonly output: Schedule }
  /** Starts the runs of slots that have passed. */
  readonly backfillSchedule: { readonly input: { readonly path: { readonly name: string }; readonly query?: { readonly dry_run?: 'true' | 'false' }; readonly body: { readonly from: string; readonly to: string; readonly id?: string } }; readonly output: Schedule | BackfillCount }
  /** Starts no run of a handler. */
  readonly pauseHandler: { readonly input: { readonly path: { readonly name: string }; readonly body?: Nothing }; readonly output: { readonly handler: string } }
  /** Starts its runs again. */
  readonly resumeHandler: { readonly input: { readonly path: { readonly name: string }; readonly body?: Nothing }; readonly output: { readonly handler: string } }
  /** Queues, with how many messages wait in each. */
  readonly listQueues: { readonly input: Nothing; readonly output: { readonly items: readonly Queue[]; readonly next_cursor: string | null } }
  /** One queue. */
  readonly getQueue: { readonly input: { readonly path: { readonly name: string } }; readonly output: Queue }
  /** Puts a message into a queue; refused when it is full. */
  readonly putMessage: { readonly input: { readonly path: { readonly name: string }; readonly body: { readonly data: Json; readonly id?: string } }; readonly output: QueueReceipt }
  /** Gives messages that were given up all their tries again. */
  readonly reviveMessages: { readonly input: { readonly path: { readonly name: string }; readonly body?: Nothing }; readonly output: { readonly revived: number } }
  /** How many tasks each view of the caller's inbox has, as far as 1,000. */
  readonly countInboxViews: { readonly input: Nothing; readonly output: InboxViews }
  /** What has happened to it, oldest first. */
  readonly listTaskHistory: { readonly input: { readonly path: { readonly id: string }; readonly query?: { readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly TaskHappening[]; readonly next_cursor: string | null } }
  /** Marks the items that a rule finds, as the caller's drafts: nothing is decided by it. */
  readonly markItems: { readonly input: { readonly path: { readonly id: string }; readonly body: { readonly where: string; readonly status: 'approved' | 'rejected' | 'pending' } }; readonly output: TaskMarks }
  /** Plans that people have written down, newest first. */
  readonly listPlans: { readonly input: { readonly query?: { readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly PlanSummary[]; readonly next_cursor: string | null } }
  /** Writes a plan down as a draft, with its errors by line; nothing is done. */
  readonly makePlan: { readonly input: { readonly body: { readonly text?: string; readonly steps?: readonly Json[]; readonly english?: string; readonly goal?: string; readonly input?: Json } }; readonly output: Plan }
  /** One plan as it is now, with its last runs. */
  readonly getPlan: { readonly input: { readonly path: { readonly id: string } }; readonly output: Plan }
  /** Makes a new revision of the version that If-Match names; an approval of the one before does not count for it. */
  readonly revisePlan: { readonly input: { readonly path: { readonly id: string }; readonly body: { readonly text?: string; readonly steps?: readonly Json[]; readonly english?: string; readonly goal?: string; readonly input?: Json } }; readonly output: Plan }
  /** Approves exactly the revision with this hash; only a person can. */
  readonly approvePlan: { readonly input: { readonly path: { readonly id: string }; readonly body: { readonly hash: string } }; readonly output: Plan }
  /** Puts a plan aside; a revision brings it back. */
  readonly discardPlan: { readonly input: { readonly path: { readonly id: string }; readonly body?: Nothing }; readonly output: Plan }
  /** Starts a run of what was approved; only a person can. */
  readonly runPlan: { readonly input: { readonly path: { readonly id: string }; readonly body?: { readonly input?: Json } }; readonly output: PlanRun }
  /** An inbox: the caller's own, or everybody's with all=true. */
  readonly listTasks: { readonly input: { readonly query?: { readonly status?: 'open' | 'closed' | 'pending' | 'in_review' | 'revision_requested' | 'approved' | 'rejected' | 'completed' | 'expired' | 'withdrawn'; readonly type?: TaskType; readonly run?: string; readonly order?: 'newest' | 'oldest' | 'deadline'; readonly claimed_by?: string; readonly all?: 'true' | 'false'; readonly view?: 'mine' | 'groups' | 'unassigned' | 'overdue' | 'escalated' | 'later'; readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly TaskSummary[]; readonly next_cursor: string | null } }
  /** How many open tasks have each status. */
  readonly countTasks: { readonly input: Nothing; readonly output: TaskCounts }
  /** Decides many tasks, each with its own verdict. */
  readonly decideTasks: { readonly input: { readonly body: { readonly decisions: readonly ({ readonly task: string; readonly action: string; readonly reason?: string; readonly fields?: { readonly [key: string]: Json }; readonly items?: { readonly [key: string]: { readonly status: 'approved' | 'rejected' | 'edited'; readonly modifications?: Json } }; readonly shown_hash?: string; readonly confirm?: string; readonly acknowledged?: boolean; readonly draft_revision?: number | null; readonly to?: string | readonly string[] })[] } }; readonly output: { readonly items: readonly TaskVerdict[] } }
  /** One task as the caller sees it. */
  readonly getTask: { readonly input: { readonly path: { readonly id: string } }; readonly output: TaskDetail }
  /** Decides it; the first valid decision wins. */
  readonly decideTask: { readonly input: { readonly path: { readonly id: string }; readonly body: { readonly action: string; readonly reason?: string; readonly fields?: { readonly [key: string]: Json }; readonly items?: { readonly [key: string]: { readonly status: 'approved' | 'rejected' | 'edited'; readonly modifications?: Json } }; readonly shown_hash?: string; readonly confirm?: string; readonly acknowledged?: boolean; readonly draft_revision?: number | null; readonly to?: string | readonly string[] } }; readonly output: TaskDetail }
  /** Says that the caller has seen it. */
  readonly viewTask: { readonly input: { readonly path: { readonly id: string }; readonly body?: Nothing }; readonly output: TaskDetail }
  /** Says that the caller is at it. */
  readonly claimTask: { readonly input: { readonly path: { readonly id: string }; readonly body?: Nothing }; readonly output: TaskDetail }
  /** Leaves it to others again. */
  readonly unclaimTask: { readonly input: { readonly path: { readonly id: string }; readonly body?: Nothing }; readonly output: TaskDetail }
  /** Hands it to somebody else. */
  readonly reassignTask: { readonly input: { readonly path: { readonly id: string }; readonly body: { readonly to?: string | readonly string[]; readonly reason?: string } }; readonly output: TaskDetail }
  /** Hands it to the next level. */
  readonly escalateTask: { readonly input: { readonly path: { readonly id: string }; readonly body: { readonly to?: string | readonly string[]; readonly reason?: string } }; readonly output: TaskDetail }
  /** Keeps the caller's draft of an item, or of the whole. */
  readonly saveDraft: { readonly input: { readonly path: { readonly id: string }; readonly body: { readonly item?: string | null; readonly content?: Json; readonly draft_revision?: number | null } }; readonly output: TaskDetail }
  /** Puts it off in the caller's inbox. */
  readonly followUpTask: { readonly input: { readonly path: { readonly id: string }; readonly body: { readonly until?: string | null } }; readonly output: TaskDetail }
  /** The running system: its events, its handlers, its hash, what lint says of it. */
  readonly getManifest: { readonly input: Nothing; readonly output: System }
  /** Definitions that were loaded or that open runs are pinned to, the newest first. */
  readonly listManifestVersions: { readonly input: Nothing; readonly output: { readonly items: readonly ManifestVersion[]; readonly next_cursor: string | null } }
  /** What is wrong with the text of a manifest; nothing of it is put in force. */
  readonly validateManifest: { readonly input: { readonly body: { readonly text: string; readonly file?: string } }; readonly output: { readonly is_valid: boolean; readonly findings: readonly Finding[] } }
  /** The running system as a graph: who hears and sends what, what each has to do now. */
  readonly getGraph: { readonly input: Nothing; readonly output: Graph }
  /** Sessions, newest first. */
  readonly listSessions: { readonly input: { readonly query?: { readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly Session[]; readonly next_cursor: string | null } }
  /** One session: its mode, its memory, its forks. */
  readonly getSession: { readonly input: { readonly path: { readonly id: string } }; readonly output: SessionDetail }
  /** How a session began, its checkpoints and its end, oldest first. */
  readonly listCheckpoints: { readonly input: { readonly path: { readonly id: string }; readonly query?: { readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly Checkpoint[]; readonly next_cursor: string | null } }
  /** What differs in memory between two checkpoints: of a session, of its origin, of its forks. */
  readonly compareCheckpoints: { readonly input: { readonly path: { readonly id: string }; readonly query?: { readonly a?: string; readonly b?: string } }; readonly output: SessionDifference }
  /** Runs of a session, newest first. */
  readonly listSessionRuns: { readonly input: { readonly path: { readonly id: string }; readonly query?: { readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly Run[]; readonly next_cursor: string | null } }
  /** Tokens and dollars of models, by day, agent and model. */
  readonly getCosts: { readonly input: { readonly query?: { readonly by?: string; readonly from?: string; readonly to?: string } }; readonly output: Costs }
  /** What a run costs: the middle and the expensive of those that ended well, and what the others wasted. */
  readonly getRunCosts: { readonly input: { readonly query?: { readonly from?: string; readonly to?: string } }; readonly output: RunCosts }
  /** Deliveries of webhooks that made no event, by webhook and id; each can be replayed. */
  readonly listDeadLetters: { readonly input: { readonly query?: { readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly DeadLetter[]; readonly next_cursor: string | null } }
  /** Takes a delivery again that could not be read. */
  readonly replayWebhook: { readonly input: { readonly path: { readonly name: string }; readonly body: { readonly delivery: string } }; readonly output: Receipt }
  /** Who outside is told of which events, and how each does. */
  readonly listWebhookEndpoints: { readonly input: Nothing; readonly output: { readonly items: readonly WebhookEndpoint[]; readonly next_cursor: string | null } }
  /** What was delivered to an endpoint or is to be, newest first, with every try. */
  readonly listDeliveries: { readonly input: { readonly path: { readonly name: string }; readonly query?: { readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly WebhookDelivery[]; readonly next_cursor: string | null } }
  /** Tries a delivery once more that was given up. */
  readonly redeliverWebhook: { readonly input: { readonly path: { readonly name: string; readonly delivery: string }; readonly body?: Nothing }; readonly output: WebhookDelivery }
  /** The conversations, newest first, and the chats that there are. */
  readonly listChats: { readonly input: { readonly query?: { readonly limit?: number } }; readonly output: ChatList }
  /** One conversation, with its messages. */
  readonly getChat: { readonly input: { readonly path: { readonly id: string } }; readonly output: Chat }
  /** Stops the turn that goes on. */
  readonly stopChat: { readonly input: { readonly path: { readonly id: string }; readonly body?: Nothing }; readonly output: { readonly stopped: boolean } }
  /** This document. */
  readonly getOpenApi: { readonly input: Nothing; readonly output: { readonly [key: string]: Json } }
  /** The events of the system as AsyncAPI 3.0. */
  readonly getAsyncApi: { readonly input: Nothing; readonly output: { readonly [key: string]: Json } }
}

export const ROUTES: Readonly<Record<keyof Api, string>> = {
  getHealth: 'GET /health',
  getReadiness: 'GET /health/ready',
  showHealth: 'GET /api/health',
  getLiveness: 'GET /health/live',
  getMe: 'GET /api/me',
  listTokens: 'GET /api/tokens',
  createToken: 'POST /api/tokens',
  revokeToken: 'DELETE /api/tokens/{id}',
  getConfiguration: 'GET /api/configuration',
  listDelayedEvents: 'GET /api/events/delayed',
  cancelEvent: 'DELETE /api/events/{id}',
  getEvent: 'GET /api/events/{id}',
  listEvents: 'GET /api/events',
  sendEvent: 'POST /api/events',
  bulkRuns: 'POST /api/runs/bulk',
  getJob: 'GET /api/jobs/{id}',
  listOpenRuns: 'GET /api/runs/open',
  listRuns: 'GET /api/runs',
  startRun: 'POST /api/runs',
  countRuns: 'GET /api/runs/counts',
  getRun: 'GET /api/runs/{id}',
  explainRun: 'GET /api/runs/{id}/why',
  listFacts: 'GET /api/runs/{id}/facts',
  cancelRun: 'POST /api/runs/{id}/cancel',
  pauseRun: 'POST /api/runs/{id}/pause',
  resumeRun: 'POST /api/runs/{id}/resume',
  retryRun: 'POST /api/runs/{id}/retry',
  resolveStep: 'POST /api/runs/{id}/resolve',
  previewRerun: 'GET /api/runs/{id}/rerun',
  rerunRun: 'POST /api/runs/{id}/rerun',
  getTimeline: 'GET /api/runs/{id}/timeline',
  getStep: 'GET /api/runs/{id}/step',
  listFilters: 'GET /api/filters',
  createFilter: 'POST /api/filters',
  getFilter: 'GET /api/filters/{id}',
  replaceFilter: 'PUT /api/filters/{id}',
  removeFilter: 'DELETE /api/filters/{id}',
  listWorkers: 'GET /api/workers',
  getWorker: 'GET /api/workers/{id}',
  drainWorker: 'POST /api/workers/{id}/drain',
  pauseWorker: 'POST /api/workers/{id}/pause',
  resumeWorker: 'POST /api/workers/{id}/resume',
  listPools: 'GET /api/pools',
  listCircuits: 'GET /api/circuits',
  resetCircuit: 'POST /api/circuits/{key}/reset',
  getStop: 'GET /api/stop',
  stopEverything: 'POST /api/stop',
  liftStop: 'POST /api/stop/lift',
  listTriggers: 'GET /api/triggers',
  rehearseEvent: 'POST /api/triggers/test',
  listSchedules: 'GET /api/schedules',
  getSchedule: 'GET /api/schedules/{name}',
  listSlots: 'GET /api/schedules/{name}/slots',
  pauseSchedule: 'POST /api/schedules/{name}/pause',
  resumeSchedule: 'POST /api/schedules/{name}/resume',
  runSchedule: 'POST /api/schedules/{name}/run',
  backfillSchedule: 'POST /api/schedules/{name}/backfill',
  pauseHandler: 'POST /api/handlers/{name}/pause',
  resumeHandler: 'POST /api/handlers/{name}/resume',
  listQueues: 'GET /api/queues',
  getQueue: 'GET /api/queues/{name}',
  putMessage: 'POST /api/queues/{name}',
  reviveMessages: 'POST /api/queues/{name}/revive',
  countInboxViews: 'GET /api/tasks/views',
  listTaskHistory: 'GET /api/tasks/{id}/history',
  markItems: 'POST /api/tasks/{id}/marks',
  listPlans: 'GET /api/plans',
  makePlan: 'POST /api/plans',
  getPlan: 'GET /api/plans/{id}',
  revisePlan: 'PUT /api/plans/{id}',
  approvePlan: 'POST /api/plans/{id}/approve',
  discardPlan: 'POST /api/plans/{id}/discard',
  runPlan: 'POST /api/plans/{id}/runs',
  listTasks: 'GET /api/tasks',
  countTasks: 'GET /api/tasks/counts',
  decideTasks: 'POST /api/tasks/decisions',
  getTask: 'GET /api/tasks/{id}',
  decideTask: 'POST /api/tasks/{id}/decision',
  viewTask: 'POST /api/tasks/{id}/view',
  claimTask: 'POST /api/tasks/{id}/claim',
  unclaimTask: 'POST /api/tasks/{id}/unclaim',
  reassignTask: 'POST /api/tasks/{id}/reassign',
  escalateTask: 'POST /api/tasks/{id}/escalate',
  saveDraft: 'PATCH /api/tasks/{id}/drafts',
  followUpTask: 'POST /api/tasks/{id}/follow-up',
  getManifest: 'GET /api/manifest',
  listManifestVersions: 'GET /api/manifest/versions',
  validateManifest: 'POST /api/manifest/validate',
  getGraph: 'GET /api/manifest/graph',
  listSessions: 'GET /api/sessions',
  getSession: 'GET /api/sessions/{id}',
  listCheckpoints: 'GET /api/sessions/{id}/checkpoints',
  compareCheckpoints: 'GET /api/sessions/{id}/diff',
  listSessionRuns: 'GET /api/sessions/{id}/runs',
  getCosts: 'GET /api/costs',
  getRunCosts: 'GET /api/costs/runs',
  listDeadLetters: 'GET /api/webhooks/dead-letters',
  replayWebhook: 'POST /api/webhooks/{name}/replay',
  listWebhookEndpoints: 'GET /api/webhook-endpoints',
  listDeliveries: 'GET /api/webhook-endpoints/{name}/deliveries',
  redeliverWebhook: 'POST /api/webhook-endpoints/{name}/deliveries/{delivery}/redeliver',
  listChats: 'GET /api/chat',
  getChat: 'GET /api/chat/{id}',
  stopChat: 'POST /api/chat/{id}/stop',
  getOpenApi: 'GET /openapi.json',
  getAsyncApi: 'GET /asyncapi.json',
}
