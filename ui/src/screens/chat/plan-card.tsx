/** A plan in a conversation: steps, revision and approval buttons, then its run. */
import { Button, Card, Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { visibleText } from '#model/kernel/visible-text.ts'
import type { Json, PlanStep } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { CopyText } from '../../parts/copy.tsx'
import { Status } from '../../parts/status.tsx'
import { PlanRun } from '../plans/plan-run.tsx'
import { ModelBadge, PlanInput, PlanSteps } from '../plans/steps.tsx'

export interface ProposedPlan {
  readonly plan_id: string | null
  readonly goal: string
  readonly goal_by: string
  /** The input of the plan. */
  readonly input: Json
  readonly hash: string
  readonly steps: readonly PlanStep[]
  readonly errors: readonly { readonly line: number | null; readonly message: string }[]
  readonly status: string
  readonly run_id: string | null
}

/** An open approval request. */
export interface Asked {
  readonly task: string | null
  readonly answer: (isYes: boolean) => void
}

const STATES: Readonly<Record<string, string>> = {
  ...{ proposed: 'queued', waiting: 'waiting', running: 'running' },
  ...{ done: 'success', failed: 'failed', denied: 'cancelled' },
}

const EditLink = ({ id }: { readonly id: string }) => (
  <Button size="xs" variant="default" renderRoot={(props) => <Link to="/plans/$id" params={{ id }} {...props} />}>
    Edit
  </Button>
)

const Word = ({ plan, asked }: { readonly plan: ProposedPlan; readonly asked: Asked }) => {
  const mayDecide = useMay('decider')
  return (
    <Group gap="xs" mt="xs">
      {mayDecide && (
        <Button size="xs" onClick={() => asked.answer(true)}>
          Approve and run
        </Button>
      )}
      {plan.plan_id !== null && <EditLink id={plan.plan_id} />}
      {mayDecide && (
        <Button size="xs" variant="default" onClick={() => asked.answer(false)}>
          Discard
        </Button>
      )}
      {asked.task !== null && (
        <Link to="/inbox" search={{ view: 'open', task: asked.task }} className="link">
          Open the task
        </Link>
      )}
    </Group>
  )
}

interface CardProps {
  readonly plan: ProposedPlan
  /** Null: no approval is open. */
  readonly asked: Asked | null
  /** Why it was not run. Null: it was, or is waiting. */
  readonly reason: string | null
  readonly run: string | null
}

export const PlanCard = ({ plan, asked, reason, run }: CardProps) => (
  <Card withBorder padding="sm" className="done plan">
    <Group justify="space-between" wrap="nowrap">
      <Text fw={600}>
        <span>{plan.goal === '' ? 'Plan' : visibleText(plan.goal)}</span>{' '}
        {plan.goal !== '' && <ModelBadge by={plan.goal_by} />}
      </Text>
      <Status of={STATES[plan.status] ?? 'running'} />
    </Group>
    <Group gap="xs">
      <Text className="quiet">
        revision <span className="id">{plan.hash}</span>
      </Text>
      <CopyText text={plan.hash} label="Copy hash" />
      {plan.plan_id !== null && (
        <Link to="/plans/$id" params={{ id: plan.plan_id }} className="link">
          Open plan
        </Link>
      )}
    </Group>
    {run === null && <PlanInput input={plan.input} />}
    {run === null ? <PlanSteps steps={plan.steps} /> : <PlanRun id={run} steps={plan.steps} />}
    {reason !== null && <Text size="sm">{reason}</Text>}
    {asked !== null && <Word plan={plan} asked={asked} />}
  </Card>
)
