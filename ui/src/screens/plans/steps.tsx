/**
 * The steps of a plan: operation, inputs, executor, dependencies and status of each.
 *
 * A person approves what this shows. So it shows every detail of a step and collapses nothing before the plan runs.
 */
import { Badge, Text } from '@mantine/core'
import { Hourglass, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { visibleLines, visibleText } from '#model/kernel/visible-text.ts'
import { inputText, stepsInContent } from '#model/plan/words.ts'
import { isRecord, type Json, type PlanStep } from '../../api/documents.ts'
import { lookOf } from '../../parts/modalities.ts'
import { Status } from '../../parts/status.tsx'

const KINDS: Readonly<Record<string, string>> = { agent: 'agent', human: 'human', workflow: 'function' }
const OTHERS = { wait: { icon: Hourglass, word: 'wait' }, nobody: { icon: TriangleAlert, word: 'no handler' } } as const

const lookOfStep = ({ hand, by }: PlanStep) =>
  hand === null ? OTHERS[by === 'wait' ? 'wait' : 'nobody'] : lookOf(KINDS[hand] ?? hand)

const after = (requires: readonly string[]): string => `after ${requires.join(', ').replace(/, ([^,]+)$/, ' and $1')}`

/** Icons for step statuses that a run does not have. */
const lookOfEnd = (status: string) =>
  status === 'skipped' || status === 'rejected' ? { look: 'cancelled' as const } : {}

/** A badge for a name or goal that a model has chosen: it does not prove what the step does. */
export const ModelBadge = ({ by }: { readonly by: string }) =>
  by === 'model' ? (
    <Badge size="xs" variant="outline" color="gray" tt="none" className="label models-words">
      named by a model
    </Badge>
  ) : null

const EFFECTS: Readonly<Record<string, string>> = {
  idempotent: 'Repeatable (same key each time)',
  once: 'At most once',
  transactional: 'Exactly once, with its record',
}

const costOf = ({ cost_limit_usd: limit }: PlanStep): string =>
  limit === null ? 'No cost limit' : `Costs at most $${limit}`

const Inputs = ({ step }: { readonly step: PlanStep }) => (
  <dl className="fields inputs">
    {step.inputs.map(({ path, value, from }) => (
      <div key={path}>
        <dt>{visibleText(path)}</dt>
        <dd className="text">
          <code>{visibleLines(inputText(value))}</code>
          {from.length > 0 && <span className="quiet"> from {from.join(', ')}</span>}
        </dd>
      </div>
    ))}
    {step.input_from !== null && (
      <div>
        <dt>Input</dt>
        <dd className="text">{visibleText(step.input_from)}</dd>
      </div>
    )}
  </dl>
)

const limitsOf = (step: PlanStep): readonly string[] => [
  ...(step.effect === null ? [] : [EFFECTS[step.effect] ?? step.effect, costOf(step)]),
  ...(step.may === null ? [] : [`May use ${step.may.length === 0 ? 'nothing' : step.may.join(', ')}`]),
  ...step.rules,
]

/** All details of a step that an approval covers. */
const Details = ({ step }: { readonly step: PlanStep }) => (
  <>
    <span className="operation">{visibleText(step.operation)}</span>
    {(step.inputs.length > 0 || step.input_from !== null) && <Inputs step={step} />}
    {limitsOf(step).length > 0 && (
      <ul className="limits quiet">
        {[...new Set(limitsOf(step))].map((text) => (
          <li key={text}>{visibleText(text)}</li>
        ))}
      </ul>
    )}
  </>
)

interface StepsProps {
  readonly steps: readonly PlanStep[]
  /** Status by step id while the plan runs; shows names only then. Default: the plan is not running. */
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
          <div>
            <span>
              <span>{visibleText(step.name)}</span> <ModelBadge by={step.named_by} />
            </span>
            <span className="quiet">
              <span className="hand" data-kind={KINDS[step.hand ?? ''] ?? step.by}>
                <Icon size={14} aria-hidden /> {word}
              </span>
              {step.hand !== null && step.by !== 'people' && ` ${step.by}`}
              {step.requires.length > 0 && ` · ${after(step.requires)}`}
            </span>
            {statuses === undefined && <Details step={step} />}
          </div>
          {status !== undefined && <Status of={status} {...lookOfEnd(status)} />}
        </li>
      )
    })}
  </ol>
)

/** The whole input of a plan. It is approved together with the steps. */
export const PlanInput = ({ input }: { readonly input: Json }) =>
  isRecord(input) && Object.keys(input).length === 0 ? null : input === null ? null : (
    <section aria-label="Plan input">
      <Text size="sm" fw={600}>
        Plan input
      </Text>
      <pre className="plan-input">{visibleLines(JSON.stringify(input, null, 2))}</pre>
    </section>
  )

/** The plan in a section of a task. Null: the section contains no plan. */
export const planIn = (content: Json): ReactNode => {
  const steps = stepsInContent(content)
  if (steps === null || !isRecord(content)) return null
  const { goal = '', goal_by: by = 'person', hash = '', input = null } = content
  return (
    <>
      {typeof goal === 'string' && goal !== '' && (
        <Text>
          <span>{visibleText(goal)}</span> <ModelBadge by={String(by)} />
        </Text>
      )}
      <Text size="sm" className="quiet">
        revision <span className="id">{visibleText(String(hash))}</span>
      </Text>
      <PlanInput input={input} />
      <PlanSteps steps={steps as readonly PlanStep[]} />
    </>
  )
}
