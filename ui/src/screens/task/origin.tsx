/** Where a task comes from, as a sign and a word: a person's step, or something that went another way. */
import {
  ArrowUpNarrowWide,
  CircleHelp,
  ClipboardCheck,
  Eye,
  MessageCircleQuestion,
  PenLine,
  Repeat,
  Split,
  Wrench,
} from 'lucide-react'
import type { TaskSummary } from '../../api/documents.ts'

const TYPES = { approval: ClipboardCheck, review: Eye, input: PenLine, decision: Split } as const

const ORIGINS = {
  human: null,
  tool_approval: { icon: Wrench, word: 'tool call of an agent' },
  question: { icon: MessageCircleQuestion, word: 'question of an agent' },
  escalation: { icon: ArrowUpNarrowWide, word: 'an agent was not sure' },
  uncertain: { icon: CircleHelp, word: 'did it happen?' },
  loop: { icon: Repeat, word: 'an agent goes round in circles' },
} as const

type Asked = Pick<TaskSummary, 'origin' | 'type'>

export const originOf = ({ origin, type }: Asked) => ({
  icon: ORIGINS[origin]?.icon ?? TYPES[type],
  word: ORIGINS[origin] === null ? type : `${type} · ${ORIGINS[origin].word}`,
})
