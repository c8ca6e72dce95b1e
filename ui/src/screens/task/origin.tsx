/** Icon and label for the origin of a task: a human step, an agent's question, an escalation and so on. */
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
  tool_approval: { icon: Wrench, word: 'agent tool call' },
  question: { icon: MessageCircleQuestion, word: 'agent question' },
  escalation: { icon: ArrowUpNarrowWide, word: 'agent unsure' },
  uncertain: { icon: CircleHelp, word: 'did it happen?' },
  loop: { icon: Repeat, word: 'agent stuck in a loop' },
} as const

type Asked = Pick<TaskSummary, 'origin' | 'type'>

export const originOf = ({ origin, type }: Asked) => ({
  icon: ORIGINS[origin]?.icon ?? TYPES[type],
  word: ORIGINS[origin] === null ? type : `${type} · ${ORIGINS[origin].word}`,
})
