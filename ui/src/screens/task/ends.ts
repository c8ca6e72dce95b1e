/** How a task ended, in words. */
import type { TaskAction, TaskDetail } from '../../api/documents.ts'

const ENDS: Readonly<Record<string, string>> = {
  approve: 'Approved',
  edit: 'Edited and approved',
  reject: 'Rejected',
  respond: 'Answered',
  expired: 'Expired',
  withdrawn: 'Withdrawn',
}

/** A decision in words: `Approved`. Uses the label of a custom action. */
export const decisionLabel = (decision: string, actions: readonly TaskAction[] = []): string =>
  ENDS[decision] ?? `“${actions.find(({ name }) => name === decision)?.label ?? decision}”`

/** How it ended, and who ended it: `Approved by ana`. */
export const endSentence = ({ end, actions }: TaskDetail): string =>
  `${decisionLabel(end?.decision ?? '', actions)} by ${end?.decided_by ?? 'the system'}`
