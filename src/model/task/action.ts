/**
 * The built-in actions of tasks, with what each needs and does. Authors declare other actions.
 *
 * Owns the table. The task's definition says which of them it offers.
 */
import type { ActionState, TaskAction } from './spec.ts'

type Row = Pick<TaskAction, 'label' | 'requiresReason' | 'terminal'> & { readonly nextState: ActionState }

// biome-ignore format: one row per action reads as a table
const BUILT_IN = {
  approve: { label: 'Approve', terminal: true, requiresReason: false, nextState: 'approved' },
  reject: { label: 'Reject', terminal: true, requiresReason: true, nextState: 'rejected' },
  edit: { label: 'Edit and approve', terminal: true, requiresReason: false, nextState: 'approved' },
  request_edit: { label: 'Request changes', terminal: false, requiresReason: true, nextState: 'revision_requested' },
  reassign: { label: 'Reassign', terminal: false, requiresReason: false, nextState: 'pending' },
  escalate: { label: 'Escalate', terminal: false, requiresReason: true, nextState: 'pending' },
  respond: { label: 'Respond', terminal: true, requiresReason: false, nextState: 'completed' },
} as const satisfies Record<string, Row>

export type BuiltInAction = keyof typeof BUILT_IN

export const isBuiltIn = (name: string): name is BuiltInAction => Object.hasOwn(BUILT_IN, name)

export const builtInAction = (name: BuiltInAction): TaskAction => ({
  name,
  ...BUILT_IN[name],
  marksApproved: null,
  requiredFields: [],
  fieldsSchema: null,
  emits: null,
  eventPayload: null,
  returnsTo: null,
})
