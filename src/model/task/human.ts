/**
 * A human as a handler: what it asks people, as data with its templates, and the task that is made from it.
 *
 * Owns the shapes that definition and executor share. Templates and rules are compiled outside and arrive as `make`.
 */
import type { Json } from '#model/kernel/json.ts'
import type { Deadline, Level, Quorum, Reminders, SectionType, TaskAction, TaskSpec, TaskType } from './spec.ts'

export interface AssignDefinition {
  readonly users: readonly string[]
  readonly groups: readonly string[]
  /** CEL that returns the id of a person. */
  readonly rule: string | null
  /** The group that is asked if no one else can be. */
  readonly fallback: string
}

export interface SectionDefinition {
  readonly id: string
  readonly type: SectionType
  readonly title: string
  readonly content: Json
  readonly items: Json
  readonly editable: boolean
  readonly schema: Json
}

/** A template is filled in when the task is made: a duration or an instant. */
export type DeadlineDefinition = Deadline | { readonly kind: 'template'; readonly text: string }

export interface SeparationDefinition {
  readonly requester: boolean
  /** Steps whose deciders may not decide this one. */
  readonly steps: readonly string[]
}

export interface HumanDefinition {
  readonly name: string
  readonly taskType: TaskType
  readonly title: string
  readonly instructions: string
  readonly context: Json
  readonly assign: AssignDefinition
  readonly sections: readonly SectionDefinition[]
  readonly actions: readonly TaskAction[]
  readonly deadline: DeadlineDefinition | null
  readonly reminders: Reminders | null
  readonly escalation: readonly Level[]
  readonly autoAction: string | null
  readonly quorum: Quorum
  readonly separation: SeparationDefinition
  readonly priority: number
}

/** What is known about people when a task is made. */
export interface People {
  readonly isKnown: (user: string) => boolean
  /** The people behind the run; empty: they are not known (requester.ts). */
  readonly requesters: readonly string[]
  readonly decidersOf: (step: string) => readonly string[]
}

/** Fills in templates and resolves people. Throws the error that the run fails with: TEMPLATE_ERROR, EXPR_FAILED, INPUT_INVALID. */
export type TaskMaker = (roots: { readonly [root: string]: Json }, people: People) => TaskSpec

export interface Human {
  readonly definition: HumanDefinition
  readonly make: TaskMaker
}
