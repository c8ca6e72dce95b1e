/**
 * The declarations of a workflow function as an author writes them: the manifest's keys in camel case.
 *
 * Owns only the options. Their compiled form is spec.ts.
 */
import type { PlanSource } from '#model/plan/source.ts'
import type { EmitEnd } from './spec.ts'

type Duration = string | number

/** An event that is sent when a function ends: `{ event: 'order.shipped', when: 'output.ok' }`. */
export interface EmitSource {
  /** Its type. */
  readonly event: string
  /** After which ends: `success`, `failure`, `partial`, `timeout`, `cancelled` or `always`. Default: `success`. */
  readonly on?: EmitEnd
  /** CEL over `output`, `payload`, `event`: only if it is true. Default: always. */
  readonly when?: string
  /** Delay after the function has ended, a duration. Default: none. */
  readonly delay?: Duration
  /** Its data: templates over the same names. Default: the members that the event declares, from the output and the trigger's data. */
  readonly data?: unknown
}

/** A document that is read before the code: `{ table: 'customers', key: 'payload.customer', as: 'customer' }`. */
export interface LookupSource {
  /** The managed table. */
  readonly table: string
  /** CEL over `payload` and `event`; gives the key of the document. */
  readonly key: string
  /** The name under which the code reads it, in `lookups`. */
  readonly as: string
}

/**
 * A row that is written with the function's result: `{ insert: 'orders', values: { id: '{{ payload.id }}' } }`. One of `insert`, `update` and `log`.
 */
export interface PersistSource {
  /** The table of a new row. */
  readonly insert?: string
  /** Its values, with templates. Default: none. */
  readonly values?: Readonly<Record<string, unknown>>
  /** The table of a row that is changed. */
  readonly update?: string
  /** Its new values, with templates. Default: none. */
  readonly set?: Readonly<Record<string, unknown>>
  /** Which row: `id = {{ payload.id }}`. An update needs it. Default: a new one. */
  readonly where?: string
  /** The table to which an entry is added. */
  readonly log?: string
  /** The entry, with templates. Default: nothing. */
  readonly data?: Readonly<Record<string, unknown>>
}

/** What happens for one value: `{ emit: 'order.large', then: 'ask-sales' }`. */
export interface RouteSource {
  /** The type of an event that is sent. Default: none. */
  readonly emit?: string
  /** Functions to call with the same data. Default: none. */
  readonly then?: string | readonly string[]
}

/** Work chosen by a value: `{ routeOn: 'payload.kind', routes: { bug: { then: 'triage' } } }`. */
export interface RoutingSource {
  /** CEL over `payload` and `event`; its value is compared as text. */
  readonly routeOn: string
  /** What happens, by value. */
  readonly routes: Readonly<Record<string, RouteSource>>
  /** What happens for any other value. Default: the run fails with ROUTE_UNMATCHED. */
  readonly defaultRoute?: RouteSource
}

/**
 * The states of an entity: `{ entity: 'order', key: 'payload.id', initial: 'new', states: [{ name: 'new', transitionsTo: ['paid'] }, { name: 'paid',
 * terminal: true }] }`.
 */
export interface StateMachineSource {
  /** What it is about. */
  readonly entity: string
  /** CEL over `payload` and `event`; gives the key of the entity. Default: the function names it. */
  readonly key?: string
  /** The state of an entity that is new. */
  readonly initial: string
  /** Its states, and where each may lead. Default: nowhere; not terminal. */
  readonly states: readonly {
    readonly name: string
    readonly transitionsTo?: readonly string[]
    readonly terminal?: boolean
  }[]
  /** What a move that no state allows does: a warning (`warn`), nothing (`off`), or a failure (`strict`). Default: `warn`. */
  readonly enforce?: 'warn' | 'off' | 'strict'
}

/** What a function does besides its code, or instead of it. */
export interface WorkflowSource {
  /**
   * The operations that its code may use: `transform`, `api_call`, `db_write`, `emit_event`, `schedule`. Default: those that its declarations need;
   * without declarations it is not limited.
   */
  readonly allowedOperations?: readonly string[]
  /** Events that it may send; they are sent automatically when its code sends none. Default: its code sends what it likes. */
  readonly emits?: readonly (string | EmitSource)[]
  /** Services that it calls, by name. Default: none. */
  readonly integrations?: readonly string[]
  /** Documents that are read before its code. Default: none. */
  readonly dbLookups?: readonly LookupSource[]
  /** Members that its input must have (`payload`), and a document that must exist when the run begins (`exists`). Default: no such check. */
  readonly validateInput?: {
    readonly payload?: readonly string[]
    /** The document that must exist when the run begins. */
    readonly exists?: Pick<LookupSource, 'table' | 'key'>
  }
  /** Rows that are written with its result. Default: none. */
  readonly persist?: readonly PersistSource[]
  /** Its work chosen by a value, instead of code. Default: none. */
  readonly routing?: RoutingSource
  /** Its work as steps of other modalities, instead of code. Default: none. */
  readonly plan?: PlanSource
  /** The entity that it moves from state to state. Default: that of the only state machine. */
  readonly entity?: string
  /** CEL; gives the key of the entity. Default: as the state machine says. */
  readonly entityKey?: string
  /** The states from which it may start. Default: any. */
  readonly stateIn?: string | readonly string[]
  /** The state to which it leads: a state, `same`, or a template. Default: none. */
  readonly stateOut?: string
}
