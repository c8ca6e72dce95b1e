/** When a task is due, as a chip: plain, amber when less than a quarter of its time is left, red when it is late. With a word each. */
import { When } from '../../parts/when.tsx'

const SHORT = 0.25

export type Urgency = 'late' | 'soon' | 'calm'

/** Counted from when it was asked. */
export const urgencyOf = (asked: string, deadline: string, now: number): Urgency => {
  const [from, until] = [Date.parse(asked), Date.parse(deadline)]
  if (until <= now) return 'late'
  return until - now < (until - from) * SHORT ? 'soon' : 'calm'
}

const WORDS = { late: 'overdue, since', soon: 'soon due,', calm: 'due' } as const

export const Due = ({ asked, deadline }: { readonly asked: string; readonly deadline: string }) => {
  const urgency = urgencyOf(asked, deadline, Date.now())
  return (
    <span className="due" data-urgency={urgency}>
      {WORDS[urgency]} <When at={deadline} />
    </span>
  )
}
