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
  /** of STALE_VIEW: what is in force now */
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
  readonly durable: boolean
  /** agents have no live model */
  readonly simulated: boolean
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
  readonly suppressed: readonly Suppression[]
}

export interface Suppression {
  readonly trigger: string
  readonly reason: 'filter' | 'error' | 'hop_limit' | 'reentry'
  readonly detail: string
}

export interface Receipt {
  readonly id: string
  readonly sequence: number
  readonly runs: readonly string[]
  /** the event was there already; these are the values of the first answer */
  readonly duplicate: boolean
  /** who listens to this event and was not started */
  readonly suppressed: readonly Suppression[]
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

export interface Rehearsal {
  readonly event: { readonly type: string; readonly data: Json }
  readonly starts: readonly string[]
  readonly suppressed: readonly Suppression[]
}

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
}

export interface RunWhy {
  readonly id: string
  readonly status: RunStatus
  /** one sentence */
  readonly text: string
  readonly waiting_on: readonly WaitingOn[]
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
  readonly waiting_on: readonly WaitingOn[]
  readonly children: readonly Run[]
  readonly output: Json
  readonly error: { readonly code: string; readonly message: string } | null
  readonly facts: { readonly items: readonly Fact[]; readonly next_cursor: string | null }
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
  /** how many it has */
  readonly items: number
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
  readonly is_terminal: boolean
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
  readonly viewed_by: readonly string[]
  readonly sections: readonly TaskSection[]
  readonly actions: readonly TaskAction[]
  /** those that the caller may take now */
  readonly allowed_actions: readonly string[]
  /** the caller's own, not submitted yet */
  readonly drafts: readonly TaskDraft[]
  readonly votes: readonly { readonly by: string; readonly action: string }[]
  readonly end: { readonly decision: string; readonly by: string | null; readonly at: string; readonly reason: string | null } | null
  readonly approved: readonly string[]
  readonly rejected: readonly string[]
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
  /** credentials are asked for */
  readonly is_login: boolean
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
  readonly fired: number
  readonly running: number
  readonly waiting: number
  readonly last: { readonly run_id: string; readonly slot: string; readonly status: string } | null
  readonly paused_by: string | null
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

export interface Worker {
  readonly id: string
  /** null, as all that a worker of an older version does not tell */
  readonly name: string | null
  readonly status: 'working' | 'draining'
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
  readonly status: 'working' | 'draining'
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

export interface GraphNode {
  readonly id: string
  readonly kind: 'event' | 'agent' | 'function' | 'human' | 'plan' | 'schedule' | 'webhook' | 'state'
  readonly name: string
  readonly modality: 'agent' | 'human' | 'workflow' | null
  /** its runs now; null for what is no handler */
  readonly counts: { readonly running: number; readonly waiting: number; readonly failed: number; readonly more: readonly ('running' | 'waiting' | 'failed')[] } | null
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
}

export interface Costs {
  readonly from: string
  readonly to: string
  readonly by: readonly ('day' | 'agent' | 'model')[]
  readonly items: readonly CostRow[]
  readonly total: Spent
}

/** Every operation by its id: what it takes, what it answers. */
export interface Api {
  /** Can it work: the ledger answers. */
  readonly getHealth: { readonly input: Nothing; readonly output: Health }
  /** Can it work: the ledger answers. */
  readonly getReadiness: { readonly input: Nothing; readonly output: Health }
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
  /** Events that are to be sent later, the last that was asked for first. */
  readonly listDelayedEvents: { readonly input: { readonly query?: { readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly DelayedEvent[]; readonly next_cursor: string | null } }
  /** Takes an event back that is to be sent later; answers what it was. */
  readonly cancelEvent: { readonly input: { readonly path: { readonly id: string } }; readonly output: DelayedEvent }
  /** One event by its sequence or its id: what led to it, and what it led to. */
  readonly getEvent: { readonly input: { readonly path: { readonly id: string }; readonly query?: { readonly source?: string } }; readonly output: EventDetail }
  /** Events, newest first. */
  readonly listEvents: { readonly input: { readonly query?: { readonly type?: string; readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly StoredEvent[]; readonly next_cursor: string | null } }
  /** Sends an event, in short or as a CloudEvent; a repeat with the same source and id gets the first answer. */
  readonly sendEvent: { readonly input: { readonly body: { readonly type: string; readonly data?: Json; readonly id?: string; readonly source?: string; readonly subject?: string; readonly time?: string } }; readonly output: Receipt }
  /** Cancels, retries, pauses or resumes many runs; a job that goes on by itself. */
  readonly bulkRuns: { readonly input: { readonly body: { readonly action: BulkAction; readonly where?: RunFilter; readonly ids?: readonly string[]; readonly reason?: string } }; readonly output: Job }
  /** How far a job has come: done, failed and why, found so far. */
  readonly getJob: { readonly input: { readonly path: { readonly id: string } }; readonly output: Job }
  /** Runs, newest first. */
  readonly listRuns: { readonly input: { readonly query?: { readonly status?: RunStatus; readonly handler?: string; readonly session?: string; readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly Run[]; readonly next_cursor: string | null } }
  /** Starts a function, an agent or a human by name, without an event. */
  readonly startRun: { readonly input: { readonly body: { readonly name: string; readonly input?: Json } }; readonly output: { readonly id: string } }
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
  readonly retryRun: { readonly input: { readonly path: { readonly id: string }; readonly body?: Nothing }; readonly output: Run }
  /** Says what became of a step whose outcome nobody knows. */
  readonly resolveStep: { readonly input: { readonly path: { readonly id: string }; readonly body: { readonly step: string; readonly verdict: 'happened' | 'run_again' | 'abort'; readonly result?: Json } }; readonly output: Run }
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
  /** Who starts by what. */
  readonly listTriggers: { readonly input: Nothing; readonly output: { readonly items: readonly Trigger[]; readonly next_cursor: string | null } }
  /** What an event, or a delivery of a webhook, would start; nothing is sent. */
  readonly rehearseEvent: { readonly input: { readonly body: { readonly name: string; readonly data?: Json; readonly source?: string } }; readonly output: Rehearsal }
  /** Schedules, with their next slots. */
  readonly listSchedules: { readonly input: Nothing; readonly output: { readonly items: readonly Schedule[]; readonly next_cursor: string | null } }
  /** One schedule. */
  readonly getSchedule: { readonly input: { readonly path: { readonly name: string } }; readonly output: Schedule }
  /** Lets no slot of it fire. */
  readonly pauseSchedule: { readonly input: { readonly path: { readonly name: string }; readonly body?: Nothing }; readonly output: Schedule }
  /** Lets it fire again. */
  readonly resumeSchedule: { readonly input: { readonly path: { readonly name: string }; readonly body?: Nothing }; readonly output: Schedule }
  /** Starts one run of it now, beside its slots. */
  readonly runSchedule: { readonly input: { readonly path: { readonly name: string }; readonly body?: { readonly id?: string } }; readonly output: Schedule }
  /** Starts the runs of slots that have passed. */
  readonly backfillSchedule: { readonly input: { readonly path: { readonly name: string }; readonly body: { readonly from: string; readonly to: string; readonly id?: string } }; readonly output: Schedule }
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
  /** An inbox: the caller's own, or everybody's with all=true. */
  readonly listTasks: { readonly input: { readonly query?: { readonly status?: 'open' | 'closed' | 'pending' | 'in_review' | 'revision_requested' | 'approved' | 'rejected' | 'completed' | 'expired' | 'withdrawn'; readonly type?: TaskType; readonly run?: string; readonly order?: 'newest' | 'oldest' | 'deadline'; readonly claimed_by?: string; readonly all?: 'true' | 'false'; readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly TaskSummary[]; readonly next_cursor: string | null } }
  /** How many open tasks have each status. */
  readonly countTasks: { readonly input: Nothing; readonly output: { readonly pending: number; readonly in_review: number; readonly revision_requested: number } }
  /** Decides many tasks, each with its own verdict. */
  readonly decideTasks: { readonly input: { readonly body: { readonly decisions: readonly ({ readonly task: string; readonly action: string; readonly reason?: string; readonly fields?: { readonly [key: string]: Json }; readonly items?: { readonly [key: string]: { readonly status: 'approved' | 'rejected' | 'edited'; readonly modifications?: Json } }; readonly shown_hash?: string; readonly to?: string | readonly string[] })[] } }; readonly output: { readonly items: readonly TaskVerdict[] } }
  /** One task as the caller sees it. */
  readonly getTask: { readonly input: { readonly path: { readonly id: string } }; readonly output: TaskDetail }
  /** Decides it; the first valid decision wins. */
  readonly decideTask: { readonly input: { readonly path: { readonly id: string }; readonly body: { readonly action: string; readonly reason?: string; readonly fields?: { readonly [key: string]: Json }; readonly items?: { readonly [key: string]: { readonly status: 'approved' | 'rejected' | 'edited'; readonly modifications?: Json } }; readonly shown_hash?: string; readonly to?: string | readonly string[] } }; readonly output: TaskDetail }
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
  readonly saveDraft: { readonly input: { readonly path: { readonly id: string }; readonly body: { readonly item?: string | null; readonly content?: Json } }; readonly output: TaskDetail }
  /** Puts it off in the caller's inbox. */
  readonly followUpTask: { readonly input: { readonly path: { readonly id: string }; readonly body: { readonly until?: string | null } }; readonly output: TaskDetail }
  /** The running system: its events, its handlers, its hash, what lint says of it. */
  readonly getManifest: { readonly input: Nothing; readonly output: System }
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
  /** Runs of a session, newest first. */
  readonly listSessionRuns: { readonly input: { readonly path: { readonly id: string }; readonly query?: { readonly limit?: number; readonly cursor?: string } }; readonly output: { readonly items: readonly Run[]; readonly next_cursor: string | null } }
  /** Tokens and dollars of models, by day, agent and model. */
  readonly getCosts: { readonly input: { readonly query?: { readonly by?: string; readonly from?: string; readonly to?: string } }; readonly output: Costs }
  /** Takes a delivery again that could not be read. */
  readonly replayWebhook: { readonly input: { readonly path: { readonly name: string }; readonly body: { readonly delivery: string } }; readonly output: Receipt }
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
  getLiveness: 'GET /health/live',
  getMe: 'GET /api/me',
  listTokens: 'GET /api/tokens',
  createToken: 'POST /api/tokens',
  revokeToken: 'DELETE /api/tokens/{id}',
  listDelayedEvents: 'GET /api/events/delayed',
  cancelEvent: 'DELETE /api/events/{id}',
  getEvent: 'GET /api/events/{id}',
  listEvents: 'GET /api/events',
  sendEvent: 'POST /api/events',
  bulkRuns: 'POST /api/runs/bulk',
  getJob: 'GET /api/jobs/{id}',
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
  listFilters: 'GET /api/filters',
  createFilter: 'POST /api/filters',
  getFilter: 'GET /api/filters/{id}',
  replaceFilter: 'PUT /api/filters/{id}',
  removeFilter: 'DELETE /api/filters/{id}',
  listWorkers: 'GET /api/workers',
  getWorker: 'GET /api/workers/{id}',
  drainWorker: 'POST /api/workers/{id}/drain',
  listTriggers: 'GET /api/triggers',
  rehearseEvent: 'POST /api/triggers/test',
  listSchedules: 'GET /api/schedules',
  getSchedule: 'GET /api/schedules/{name}',
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
  validateManifest: 'POST /api/manifest/validate',
  getGraph: 'GET /api/manifest/graph',
  listSessions: 'GET /api/sessions',
  getSession: 'GET /api/sessions/{id}',
  listCheckpoints: 'GET /api/sessions/{id}/checkpoints',
  listSessionRuns: 'GET /api/sessions/{id}/runs',
  getCosts: 'GET /api/costs',
  replayWebhook: 'POST /api/webhooks/{name}/replay',
  listChats: 'GET /api/chat',
  getChat: 'GET /api/chat/{id}',
  stopChat: 'POST /api/chat/{id}/stop',
  getOpenApi: 'GET /openapi.json',
  getAsyncApi: 'GET /asyncapi.json',
}
