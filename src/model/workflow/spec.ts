/**
 * What a workflow function declares beside its code: what it may do, which events it sends, what it reads before and writes after.
 *
 * Owns the shapes. Rules and templates arrive compiled. The executor applies the declarations when it enters a function (executors/workflow); the
 * limits on its code are checked when it writes (engine/step/permissions.ts).
 */
import type { FanInPolicy } from '#model/flow/policies/fan-in.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Rule } from '#model/kernel/rule.ts'
import type { ShownPlan } from '#model/plan/shown.ts'

export const OPERATIONS = ['transform', 'api_call', 'db_write', 'emit_event', 'schedule'] as const
export type Operation = (typeof OPERATIONS)[number]

/** How a handler ends, and the ends that an entry can be for. */
export const EMIT_ENDS = ['success', 'failure', 'partial', 'timeout', 'cancelled', 'always'] as const
export type EmitEnd = (typeof EMIT_ENDS)[number]

export type Roots = { readonly [root: string]: Json }
/** A compiled template: any JSON, filled in with the values of these roots. */
export type Filler = (roots: Roots) => Json

export interface WorkflowSpec {
  /** Null: no list limits it. */
  readonly operations: ReadonlySet<Operation> | null
  /** Null: it declares no events, and may send any. */
  readonly emits: readonly EmitSpec[] | null
  readonly lookups: readonly LookupSpec[]
  /** Fields that its input must have. */
  readonly requires: readonly string[]
  /** The document that must exist; null: none. */
  readonly exists: { readonly table: string; readonly key: LookupSpec['key'] } | null
  readonly persist: readonly PersistSpec[]
  readonly routing: RoutingSpec | null
  readonly fanIn: FanInPolicy | null
  readonly state: StateSpec | null
  /** Its plan; null: it has code. */
  readonly plan: ShownPlan | null
}

export interface EmitSpec {
  readonly event: string
  readonly on: EmitEnd
  readonly when: { readonly text: string; readonly rule: Rule } | null
  /** Null: at once. */
  readonly delayMs: number | null
  readonly data: Filler | null
  /** The members that the event declares; null: it declares none. */
  readonly fields: readonly string[] | null
}

/** A document that is read before the code begins, and recorded. */
export interface LookupSpec {
  readonly table: string
  readonly key: { readonly text: string; readonly rule: Rule }
  readonly as: string
}

export interface PersistSpec {
  readonly kind: 'insert' | 'update' | 'log'
  readonly table: string
  readonly key: Filler | null
  readonly value: Filler
}

export interface RoutingSpec {
  readonly on: { readonly text: string; readonly rule: Rule }
  readonly routes: ReadonlyMap<string, RouteSpec>
  readonly otherwise: RouteSpec | null
}

export interface RouteSpec {
  readonly emit: string | null
  /** Functions that are called with the same data. */
  readonly calls: readonly string[]
}

/** The entity that a function works on, with its state machine. */
export interface StateSpec {
  readonly machine: EntityMachine
  readonly key: { readonly text: string; readonly rule: Rule }
  /** States in which the function may begin; empty: any. */
  readonly from: readonly string[]
  /** The state after success; null: unchanged. */
  readonly to: Filler | null
}

export interface EntityMachine {
  readonly entity: string
  readonly initial: string
  readonly states: ReadonlyMap<string, { readonly to: readonly string[]; readonly terminal: boolean }>
  readonly enforce: 'warn' | 'off' | 'strict'
}

/** A function that declares nothing. */
export const PLAIN: WorkflowSpec = {
  operations: null,
  emits: null,
  lookups: [],
  requires: [],
  exists: null,
  persist: [],
  routing: null,
  fanIn: null,
  state: null,
  plan: null,
}
