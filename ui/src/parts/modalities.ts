/** Icon and label for each kind of node in a system. */
import { Bot, CalendarClock, CircleDot, Cog, ListOrdered, Triangle, User, Webhook, Zap } from 'lucide-react'

const LOOKS = {
  event: { icon: Zap, word: 'event' },
  agent: { icon: Bot, word: 'agent' },
  human: { icon: User, word: 'human' },
  function: { icon: Cog, word: 'function' },
  plan: { icon: ListOrdered, word: 'plan' },
  schedule: { icon: CalendarClock, word: 'schedule' },
  webhook: { icon: Webhook, word: 'webhook' },
  state: { icon: CircleDot, word: 'state' },
} as const

export const lookOf = (kind: string) => LOOKS[kind as keyof typeof LOOKS] ?? { icon: Triangle, word: kind }
