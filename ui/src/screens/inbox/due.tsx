/** A chip with the deadline of a task: plain, amber when less than a quarter of the time is left, red when overdue. */
import { When } from '../../parts/when.tsx'

const SHORT = 0.25

export type Urgency = 'late' | 'soon' | 'calm'

/** Urgency at `now`, for a task created at `asked`. */
export const urgencyOf = (asked: string, deadline: string, now: number): Urgency => {
  const [from, until] = [Date.parse(asked), Date.parse(deadline)]
  if (until <= now) return 'late'
  return until - now < (until - from) * SHORT ? 'soon' : 'calm'
}

const WORDS = { late: '', soon: 'due soon, ', calm: 'due ' } as const

export const Due = ({ asked, deadline }: { readonly asked: string; readonly deadline: string }) => {
  const urgency = urgencyOf(asked, deadline, Date.now())
  return (
    <span className="due" data-urgency={urgency}>
      {WORDS[urgency]}
      <When at={deadline} past="overdue" />
    </span>
  )
}
