/** What the server answers with, as far as the page reads it. Spelled as on the wire. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export const isRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next_cursor: string | null
}

export interface Run {
  readonly id: string
  readonly handler: string
  readonly status: string
  readonly session_id: string | null
  readonly parent_id: string | null
  readonly event: number | null
  readonly version: number
  readonly wake_at: string | null
  readonly created_at: string
}

export interface Fact {
  readonly seq: number
  readonly type: string
  readonly at: string
  readonly step: string | null
  readonly text: string
  readonly body: { readonly [key: string]: Json }
}

export interface WaitingOn {
  readonly kind: string
  readonly step: string | null
  readonly until: string | null
  readonly text: string
}

export interface RunDetail extends Run {
  readonly waiting_on: readonly WaitingOn[]
  readonly children: readonly Run[]
  readonly output: Json
  readonly error: { readonly code: string; readonly message: string } | null
  readonly facts: Page<Fact>
}

export interface StoredEvent {
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

export interface Receipt {
  readonly id: string
  readonly sequence: number
  readonly runs: readonly string[]
  readonly duplicate: boolean
  readonly suppressed: readonly { readonly trigger: string; readonly reason: string; readonly detail: string }[]
}

export interface Schedule {
  readonly name: string
  readonly target: { readonly kind: string; readonly name: string }
  readonly timing: string
  readonly tz: string
  readonly status: 'live' | 'paused' | 'ended'
  readonly next_at: string | null
  readonly fired: number
  readonly running: number
  readonly waiting: number
  readonly last: { readonly run_id: string; readonly slot: string; readonly status: string } | null
  readonly paused_by: string | null
}

export interface Worker {
  readonly id: string
  readonly name: string | null
  readonly status: 'working' | 'draining'
  readonly pool: string | null
  readonly labels: Readonly<Record<string, string>>
  readonly modules: readonly string[] | null
  readonly slots: number | null
  readonly leases: number
  readonly started_at: string | null
  readonly beat_at: string
}

export interface Health {
  readonly status: string
  readonly version: string
  readonly durable: boolean
  /** Agents have no live model. */
  readonly simulated: boolean
}

export interface TaskSummary {
  readonly id: string
  readonly run_id: string
  readonly step_id: string
  readonly type: string
  readonly title: string
  readonly status: string
  readonly is_open: boolean
  /** `user:ana`, `group:editors`. */
  readonly assignees: readonly string[]
  readonly claimed_by: string | null
  readonly priority: number
  readonly deadline: string | null
  readonly is_overdue: boolean
  readonly created_at: string
  readonly decision: string | null
  readonly decided_by: string | null
  readonly level: number
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
  readonly type: string
  readonly title: string
  readonly instructions: string
  readonly context: Json
  readonly remarks: string | null
  readonly status: string
  readonly is_open: boolean
  readonly shown_hash: string
  readonly revision: number
  readonly level: number
  readonly deadline: string | null
  readonly assignees: { readonly users: readonly string[]; readonly groups: readonly string[] }
  readonly claimed_by: string | null
  readonly viewed_by: readonly string[]
  readonly sections: readonly TaskSection[]
  readonly actions: readonly TaskAction[]
  readonly allowed_actions: readonly string[]
  readonly drafts: readonly TaskDraft[]
  readonly votes: readonly { readonly by: string; readonly action: string }[]
  readonly end: {
    readonly decision: string
    readonly by: string | null
    readonly at: string
    readonly reason: string | null
  } | null
  readonly approved: readonly string[]
  readonly rejected: readonly string[]
}

export interface ManifestFinding {
  readonly level: 'error' | 'warning' | 'info'
  readonly code: string
  readonly message: string
  readonly file: string
  readonly line: number
  readonly column: number
  readonly path: string
  readonly hint: string
}

export interface GraphNode {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly modality: string | null
  readonly counts: { readonly running: number; readonly waiting: number; readonly failed: number } | null
  readonly findings: readonly ManifestFinding[]
}

export interface GraphEdge {
  readonly from: string
  readonly to: string
  readonly kind: string
  readonly label: string
}

export interface ManifestGraph {
  readonly name: string
  readonly hash: string
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  readonly findings: readonly ManifestFinding[]
  readonly mermaid: string
}
