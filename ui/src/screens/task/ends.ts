/** How a task ended, in a word. */
import type { TaskDetail } from '../../api/documents.ts'

const ENDS: Readonly<Record<string, string>> = {
  approve: 'Approved',
  edit: 'Edited and approved',
  reject: 'Rejected',
  respond: 'Answered',
  expired: 'Expired, ended',
  withdrawn: 'Withdrawn',
}

const endWord = ({ end, actions }: TaskDetail): string => {
  const decision = end?.decision ?? ''
  return ENDS[decision] ?? `“${actions.find(({ name }) => name === decision)?.label ?? decision}”`
}

/** How, and by whom. */
export const endSentence = (task: TaskDetail): string => `${endWord(task)} by ${task.end?.decided_by ?? 'the system'}`
