/**
 * The declarations of a workflow function as an author writes them: the manifest's keys in camel case.
 *
 * Owns only the options. Their compiled form is spec.ts.
 */
import type { PlanSource } from '#model/plan/source.ts'
import type { EmitEnd } from './spec.ts'

type Duration = string | number

export interface EmitSource {
  readonly event: string
  readonly on?: EmitEnd
  /** CEL over `output`, `payload`, `event`. */
  readonly when?: string
  /** The event is sent this long after the function has ended. */
  readonly delay?: Duration
  /** Templates over the same names. Absent: the members that the event declares, from the output and the trigger's data. */
  readonly data?: unknown
}

export interface LookupSource {
  readonly table: string
  /** CEL over `payload` and `event`; gives the key of the document. */
  readonly key: string
  /** The name under which the code reads it. */
  readonly as: string
}

/** A row that is written with the function's result. */
export interface PersistSource {
  readonly insert?: string
  readonly values?: Readonly<Record<string, unknown>>
  readonly update?: string
  readonly set?: Readonly<Record<string, unknown>>
  /** For example `id = {{ payload.id }}`. */
  readonly where?: string
  readonly log?: string
  readonly data?: Readonly<Record<string, unknown>>
}

export interface RouteSource {
  readonly emit?: string
  /** Functions to call with the same data. */
  readonly then?: string | readonly string[]
}

export interface RoutingSource {
  /** CEL over `payload` and `event`; its value is compared as text. */
  readonly routeOn: string
  readonly routes: Readonly<Record<string, RouteSource>>
  readonly defaultRoute?: RouteSource
}

export interface StateMachineSource {
  readonly entity: string
  /** CEL over `payload` and `event`; gives the key of the entity. */
  readonly key?: string
  readonly initial: string
  readonly states: readonly {
    readonly name: string
    readonly transitionsTo?: readonly string[]
    readonly terminal?: boolean
  }[]
  readonly enforce?: 'warn' | 'off' | 'strict'
}

export interface WorkflowSource {
  /** The operations that its code may use. Absent: those that its declarations need; without declarations it is not limited. */
  readonly allowedOperations?: readonly string[]
  /** Events that it may send; they are sent automatically when its code sends none. */
  readonly emits?: readonly (string | EmitSource)[]
  /** Services that it calls. */
  readonly integrations?: readonly string[]
  readonly dbLookups?: readonly LookupSource[]
  readonly validateInput?: {
    readonly payload?: readonly string[]
    /** The document that must exist when the run begins. */
    readonly exists?: Pick<LookupSource, 'table' | 'key'>
  }
  readonly persist?: readonly PersistSource[]
  readonly routing?: RoutingSource
  /** Its work as steps of other modalities, instead of code. */
  readonly plan?: PlanSource
  readonly entity?: string
  readonly entityKey?: string
  readonly stateIn?: string | readonly string[]
  /** A state, `same`, or a template. */
  readonly stateOut?: string
}
