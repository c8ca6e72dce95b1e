/** One plan: steps, errors, the current revision with its actions, and the runs. */
import { Alert, Badge, Button, Group, Stack, Text, Textarea, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { visibleText } from '#model/kernel/visible-text.ts'
import { sendJson } from '../../api/client.ts'
import type { Plan as PlanDocument, PlanRun as StartedRun } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { planQuery, queryClient } from '../../api/queries.ts'
import { CopyText, shortId } from '../../parts/copy.tsx'
import { Data } from '../../parts/data.tsx'
import { complain } from '../../parts/say.ts'
import { Failed, Loading } from '../../parts/state.tsx'
import { When } from '../../parts/when.tsx'
import { PlanRun } from './plan-run.tsx'
import { ModelBadge, PlanInput, PlanSteps } from './steps.tsx'

const route = getRouteApi('/plans/$id')

/** A mutation that returns the changed plan. */
const useChange = <Given,>(plan: PlanDocument, change: (given: Given) => Promise<PlanDocument>) =>
  useMutation({
    mutationFn: change,
    onSuccess: (next) => queryClient.setQueryData(planQuery(plan.id).queryKey, next),
    onSettled: () => queryClient.invalidateQueries({ queryKey: planQuery(plan.id).queryKey }),
    onError: complain,
  })

const at = ({ id }: PlanDocument): string => `/api/plans/${id}`

const Errors = ({ plan }: { readonly plan: PlanDocument }) => (
  <Alert color="red" variant="outline" title="Fix these errors before you approve">
    <ul className="plan-errors">
      {plan.errors.map(({ code, line, message, hint }) => (
        <li key={`${code} ${line} ${message}`}>
          {line !== null && <b>Line {line}: </b>}
          {message} <div className="quiet">{hint}</div>
        </li>
      ))}
    </ul>
  </Alert>
)

const Edit = ({ plan, done }: { readonly plan: PlanDocument; readonly done: () => void }) => {
  const [text, setText] = useState(plan.text)
  const { mutate, isPending } = useChange(plan, () =>
    sendJson<PlanDocument>(at(plan), { text, goal: plan.goal }, { method: 'PUT', match: `"${plan.version}"` }),
  )
  return (
    <Stack gap="xs" align="stretch">
      <Textarea
        label="Steps"
        description="One per line, for example: c. Send emails (requires steps a and b)"
        autosize
        minRows={4}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        classNames={{ input: 'id' }}
      />
      <Group gap="xs">
        <Button size="xs" loading={isPending} onClick={() => mutate(undefined, { onSuccess: done })}>
          Save revision
        </Button>
        <Button size="xs" variant="default" onClick={done}>
          Cancel
        </Button>
      </Group>
    </Stack>
  )
}

const Actions = ({ plan, edit }: { readonly plan: PlanDocument; readonly edit: () => void }) => {
  const [mayDecide, mayOperate] = [useMay('decider'), useMay('operator')]
  const { mutate: run, isPending } = useChange(plan, async (isNew: boolean) => {
    const next = isNew ? await sendJson<PlanDocument>(`${at(plan)}/approve`, { hash: plan.hash }) : plan
    await sendJson<StartedRun>(`${at(plan)}/runs`, {})
    return next
  })
  const { mutate: discard, isPending: isLeaving } = useChange(plan, () =>
    sendJson<PlanDocument>(`${at(plan)}/discard`, {}),
  )
  const isReady = plan.errors.length === 0 && plan.status !== 'discarded'
  return (
    <Group gap="xs">
      {isReady && plan.approval === null && mayDecide && mayOperate && (
        <Button loading={isPending} onClick={() => run(true)}>
          Approve and run
        </Button>
      )}
      {isReady && plan.approval !== null && mayOperate && (
        <Button loading={isPending} onClick={() => run(false)}>
          Run
        </Button>
      )}
      {mayOperate && plan.source === null && (
        <Button variant="default" onClick={edit}>
          Edit
        </Button>
      )}
      {mayOperate && plan.status !== 'discarded' && (
        <Button variant="default" loading={isLeaving} onClick={() => discard(undefined)}>
          Discard
        </Button>
      )}
    </Group>
  )
}

const Head = ({ plan }: { readonly plan: PlanDocument }) => (
  <div>
    <Group gap="xs">
      <Title order={1} size="h2">
        {plan.goal === '' ? `Plan ${shortId(plan.id)}` : visibleText(plan.goal)}
      </Title>
      {plan.goal !== '' && <ModelBadge by={plan.goal_by} />}
      <Badge variant="outline" color="gray" tt="none" className="label">
        {plan.status}
      </Badge>
    </Group>
    <Text className="quiet">
      <span className="id">{shortId(plan.id)}</span> <CopyText text={plan.id} label="Copy id" /> · revision{' '}
      {plan.revision} <span className="id">{plan.hash}</span> <CopyText text={plan.hash} label="Copy hash" /> · written{' '}
      <When at={plan.created_at} /> by {plan.created_by}
      {plan.approval !== null && (
        <>
          {' '}
          · approved <When at={plan.approval.at} /> by {plan.approval.by}
        </>
      )}
    </Text>
  </div>
)

const Runs = ({ plan }: { readonly plan: PlanDocument }) => (
  <section className="panel" aria-labelledby="runs">
    <Title order={2} size="h3" id="runs">
      Runs
    </Title>
    {plan.runs.length === 0 && <Text className="quiet">No runs yet. Approve this revision to run it.</Text>}
    <Stack gap="md">
      {plan.runs.map(({ id }) => (
        <PlanRun key={id} id={id} steps={plan.steps} />
      ))}
    </Stack>
  </section>
)

export const Plan = () => {
  const { id } = route.useParams()
  const [isEdited, setEdited] = useState(false)
  const { data: plan, error, refetch } = useQuery(planQuery(id))
  if (plan === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  return (
    <Stack gap="lg" className="screen-body plan">
      <Head plan={plan} />
      {plan.errors.length > 0 && <Errors plan={plan} />}
      {isEdited ? (
        <Edit plan={plan} done={() => setEdited(false)} />
      ) : (
        <>
          <PlanInput input={plan.input} />
          {plan.steps.length > 0 ? <PlanSteps steps={plan.steps} /> : <pre className="data">{plan.text}</pre>}
          <Actions plan={plan} edit={() => setEdited(true)} />
        </>
      )}
      {plan.source !== null && <Data value={plan.source} />}
      <Runs plan={plan} />
    </Stack>
  )
}
