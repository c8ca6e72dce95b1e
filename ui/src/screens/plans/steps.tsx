/** The steps of a plan: who does each with which hand, after which others, and how far it has come. */
import { Hourglass, TriangleAlert } from 'lucide-react'
import type { PlanStep } from '../../api/documents.ts'
import { lookOf } from '../../parts/hands.ts'
import { Status } from '../../parts/status.tsx'

const KINDS: Readonly<Record<string, string>> = { agent: 'agent', human: 'human', workflow: 'function' }
const OTHERS = { wait: { icon: Hourglass, word: 'waits' }, nobody: { icon: TriangleAlert, word: 'nobody' } } as const

const lookOfStep = ({ hand, by }: PlanStep) =>
  hand === null ? OTHERS[by === 'wait' ? 'wait' : 'nobody'] : lookOf(KINDS[hand] ?? hand)

const after = (requires: readonly string[]): string => `after ${requires.join(', ').replace(/, ([^,]+)$/, ' and $1')}`

/** Ends that a run does not have. */
const lookOfEnd = (status: string) =>
  status === 'skipped' || status === 'rejected' ? { look: 'cancelled' as const } : {}

interface StepsProps {
  readonly steps: readonly PlanStep[]
  /** By the id of a step; absent: nothing runs. */
  readonly statuses?: ReadonlyMap<string, string>
}

export const PlanSteps = ({ steps, statuses }: StepsProps) => (
  <ol className="plan-steps" aria-label="Steps">
    {steps.map((step) => {
      const { icon: Icon, word } = lookOfStep(step)
      const status = statuses?.get(step.id)
      return (
        <li key={step.id}>
          <code>{step.id}</code>
          <span>
            <span>{step.name}</span>
            <span className="quiet">
              <span className="hand" data-kind={KINDS[step.hand ?? ''] ?? step.by}>
                <Icon size={14} aria-hidden /> {word}
              </span>
              {step.hand !== null && step.by !== 'people' && ` ${step.by}`}
              {step.requires.length > 0 && ` · ${after(step.requires)}`}
            </span>
          </span>
          {status !== undefined && <Status of={status} {...lookOfEnd(status)} />}
        </li>
      )
    })}
  </ol>
)
