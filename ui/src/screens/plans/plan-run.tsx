/** A run of a plan, live: its status, what it is waiting for, and the status of each step. */
import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { isRecord, type PlanStep, type RunDetail } from '../../api/documents.ts'
import { runQuery } from '../../api/queries.ts'
import { shortId } from '../../parts/copy.tsx'
import { Linked } from '../../parts/linked.tsx'
import { Status } from '../../parts/status.tsx'
import { PlanSteps } from './steps.tsx'

/** The status of each step: from the output of the run, or from the last history entry of the step while it runs. */
const statusesOf = ({ output, facts, waiting_on, skipped, status }: RunDetail): ReadonlyMap<string, string> => {
  const ended = isRecord(output) && isRecord(output['steps']) ? output['steps'] : {}
  const told = new Map<string, string>()
  for (const { step, type } of facts.items) {
    if (step === null) continue
    if (type === 'child.ended' || type === 'step.completed' || type === 'timer.fired' || type === 'wait.received')
      told.set(step, 'success')
    else if (type === 'step.failed') told.set(step, 'failed')
    else told.set(step, 'running')
  }
  for (const { step } of waiting_on) if (step !== null && told.get(step) === 'running') told.set(step, 'waiting')
  for (const { step } of skipped) told.set(step, 'skipped')
  for (const [step, end] of Object.entries(ended)) {
    const word = isRecord(end) ? String(end['status']) : ''
    told.set(step, word)
  }
  if (status === 'failed') for (const [step, word] of told) if (word === 'running') told.set(step, 'failed')
  return told
}

/** What the run is waiting for, with links to the tasks. */
const Waits = ({ run }: { readonly run: RunDetail }) => (
  <>
    {run.waiting_on
      .filter(({ kind }) => kind === 'task')
      .map((wait) => (
        <Text size="sm" key={wait.step}>
          {wait.step} waits for <Linked text={wait.text} />
        </Text>
      ))}
    {run.skipped.map(({ step, reason }) => (
      <Text size="sm" key={step}>
        {step} was skipped{reason === null ? '' : `: ${reason}`}
      </Text>
    ))}
    {run.error !== null && (
      <Text size="sm">
        <b>{run.error.code}</b> {run.error.message}
      </Text>
    )}
  </>
)

export const PlanRun = ({ id, steps }: { readonly id: string; readonly steps: readonly PlanStep[] }) => {
  const { data: run } = useQuery(runQuery(id))
  if (run === undefined) return <PlanSteps steps={steps} />
  return (
    <section aria-label={`Run ${shortId(id)}`}>
      <Group justify="space-between">
        <Link to="/runs/$id" params={{ id }} className="id">
          {shortId(id)}
        </Link>
        <Status of={run.status} />
      </Group>
      <PlanSteps steps={steps} statuses={statusesOf(run)} />
      <Waits run={run} />
    </section>
  )
}
