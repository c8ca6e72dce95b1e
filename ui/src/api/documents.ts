/** What the server answers with, as far as the page reads it. Spelled as on the wire. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

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
}
