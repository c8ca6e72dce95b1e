/** The head of a task: title, people, deadline, reason for an escalation, and remarks of an agent, labelled as such. */
import { Alert, Badge, Button, Group, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowUpNarrowWide, CircleHelp, Flag } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { TaskDetail } from '../../api/documents.ts'
import { useMe } from '../../api/me.ts'
import { sameCauseQuery } from '../../api/queries.ts'
import { shortId } from '../../parts/copy.tsx'
import { When } from '../../parts/when.tsx'
import { BulkDialog, MOST } from '../inbox/bulk.tsx'
import { Due } from '../inbox/due.tsx'
import { Content } from './content.tsx'
import { originOf } from './origin.tsx'

/** A lost worker leaves many questions. Those about the same step can be answered together. */
const SameCause = ({ task, cause }: { readonly task: TaskDetail; readonly cause: string }) => {
  const { data = [] } = useQuery(sameCauseQuery(cause, useMe()))
  const [isOpen, setOpen] = useState(false)
  const nameOf = (step: string): string => step.split('[')[0] ?? step
  const same = data.filter(({ step_id }) => nameOf(step_id) === nameOf(task.step_id)).slice(0, MOST)
  if (same.length < 2) return null
  return (
    <>
      <Button size="compact-sm" variant="default" mt="xs" onClick={() => setOpen(true)}>
        Answer all {same.length} together
      </Button>
      {isOpen && <BulkDialog ids={same.map(({ id }) => id)} keep={() => {}} close={() => setOpen(false)} />}
    </>
  )
}

/** An uncertain step: someone must say whether its effect happened. */
const UncertainStep = ({ task }: { readonly task: TaskDetail }) => (
  <Alert
    className="attention"
    color="orange"
    variant="outline"
    mt="xs"
    icon={<CircleHelp aria-hidden />}
    title="Did it happen?"
  >
    <Text size="sm">{task.instructions}</Text>
    {task.is_open && task.cause !== null && <SameCause task={task} cause={task.cause} />}
  </Alert>
)

/** The people who can vote: `sales (except ana)`. */
export const mayVoteText = ({ users, groups, except }: TaskDetail['may_vote']): string => {
  const people = [...users, ...groups].join(', ')
  return groups.length === 0 || except.length === 0 ? people : `${people} (except ${except.join(', ')})`
}

const Votes = ({ task: { votes, quorum, may_vote: may, is_open } }: { readonly task: TaskDetail }) => {
  if (quorum.approve <= 1 && quorum.reject <= 1 && votes.length === 0) return null
  return (
    <>
      <span>
        {quorum.approve} must approve
        {quorum.reject > 1 && `, or ${quorum.reject} reject`}
        {votes.length > 0 && `; ${votes.map(({ by, action }) => `${by}: ${action}`).join(', ')}`}
      </span>
      {is_open && may.users.length + may.groups.length > 0 && <span>can vote: {mayVoteText(may)}</span>}
    </>
  )
}

const Escalation = ({ task: { escalation } }: { readonly task: TaskDetail }) =>
  escalation === null ? null : (
    <Text size="sm" mt="xs" className="escalation">
      <ArrowUpNarrowWide size={15} aria-hidden /> Escalated by {escalation.by}: {escalation.reason}
    </Text>
  )

const People = ({ task }: { readonly task: TaskDetail }) => (
  <>
    <span>for {[...task.assignees.users, ...task.assignees.groups].join(', ')}</span>
    {task.requester !== null && <span>requested by {task.requester}</span>}
    {task.claimed_by !== null && <span>claimed by {task.claimed_by}</span>}
    {task.viewed_by.length > 0 && <span>seen by {task.viewed_by.join(', ')}</span>}
  </>
)

export const Head = ({ task, children }: { readonly task: TaskDetail; readonly children: ReactNode }) => {
  const isUncertain = task.origin === 'uncertain'
  return (
    <div>
      <Group gap="xs">
        <Title order={2} size="h3" data-id={task.id}>
          {task.title}
        </Title>
        <Badge variant="outline" color="gray" tt="none" className="label">
          {originOf(task).word}
        </Badge>
        <Text className="quiet">{task.status.replaceAll('_', ' ')}</Text>
        {task.priority > 0 && (
          <span className="priority">
            <Flag size={13} aria-hidden /> priority {task.priority}
          </span>
        )}
      </Group>
      <Group gap="xs" className="quiet">
        <Link to="/runs/$id" params={{ id: task.run_id }} className="id">
          {shortId(task.run_id)}
        </Link>
        <span>
          asked <When at={task.created_at} />
        </span>
        {task.is_open && task.deadline !== null && <Due asked={task.created_at} deadline={task.deadline} />}
        <People task={task} />
        <Votes task={task} />
        {children}
      </Group>
      <Escalation task={task} />
      {isUncertain && <UncertainStep task={task} />}
      {!isUncertain && task.instructions !== '' && <Text mt="xs">{task.instructions}</Text>}
      {task.remarks !== null && (
        <Alert color="grape" variant="outline" mt="xs" title="From the agent, not verified">
          <Content value={task.remarks} />
        </Alert>
      )}
    </div>
  )
}
