/** One chat message: text, executed actions, and what it is waiting for. */
import { Badge, Button, Card, Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { DynamicToolUIPart, UIMessage } from 'ai'
import { default as ReactMarkdown } from 'react-markdown'
import type { Json } from '../../api/documents.ts'
import { shortId } from '../../parts/copy.tsx'
import { Data } from '../../parts/data.tsx'
import { ErrorBox } from '../../parts/state.tsx'
import { Status } from '../../parts/status.tsx'
import { PlanCard, type ProposedPlan } from './plan-card.tsx'

// Message text is Markdown without raw HTML and images. A link shows its host.

const hostOf = (href: string): string => {
  try {
    return new URL(href).host
  } catch {
    return ''
  }
}

const Markdown = ({ text }: { readonly text: string }) => (
  <ReactMarkdown
    skipHtml
    disallowedElements={['img']}
    components={{
      a: ({ href = '', children }) => (
        <a href={href} rel="noreferrer noopener" target="_blank">
          {children} {hostOf(href) === '' ? '' : `(${hostOf(href)})`}
        </a>
      ),
    }}
  >
    {text}
  </ReactMarkdown>
)

interface RunNews {
  readonly run_id: string
  readonly status: string
  readonly waiting_on: string | null
  readonly execution_run: string | null
}

interface ErrorNews {
  readonly code: string
  readonly message: string
  readonly hint: string
}

type Part = UIMessage['parts'][number]
/** Answers an approval request, by its id. */
type Answer = (approval: string, isYes: boolean) => void

const STATES: Readonly<Record<string, string>> = {
  'input-available': 'running',
  'approval-requested': 'waiting',
  'approval-responded': 'running',
  'output-available': 'success',
  'output-error': 'failed',
  'output-denied': 'cancelled',
}

/** Drops the text of a model call that failed and was restarted. */
const lasting = (parts: readonly Part[]): readonly Part[] => {
  const reset = parts.findLastIndex(({ type }) => type === 'data-reset-step')
  return parts.filter(({ type }, i) => i > reset || type !== 'text')
}

const dataOf = <News,>(parts: readonly Part[], type: string): News | null => {
  const found = parts.findLast((part) => part.type === type)
  return found !== undefined && 'data' in found ? (found.data as News) : null
}

const reasonOf = (part: DynamicToolUIPart, parts: readonly Part[]): string | null => {
  if (part.state === 'output-error') return part.errorText
  if (part.state !== 'output-denied') return null
  return part.approval?.reason ?? dataOf<{ readonly reason: string }>(parts, 'data-denied')?.reason ?? 'Not approved.'
}

/** Whether the output is text, which the message shows below as text. */
const isSaid = (output: unknown): boolean =>
  typeof output === 'string' ||
  (typeof output === 'object' && output !== null && 'content' in output && typeof output.content === 'string')

const RunLink = ({ id }: { readonly id: string }) => (
  <Link to="/runs/$id" params={{ id }} className="quiet">
    {shortId(id)}
  </Link>
)

interface ExecutionProps {
  readonly part: DynamicToolUIPart
  readonly parts: readonly Part[]
  readonly answer: Answer
}

const Execution = ({ part, parts }: ExecutionProps) => {
  const reason = reasonOf(part, parts)
  const run = dataOf<RunNews>(parts, 'data-run')
  const task = dataOf<{ readonly task_id: string }>(parts, 'data-task')
  return (
    <Card withBorder padding="sm" className="done">
      <Group justify="space-between">
        <Text fw={600}>{part.toolName}</Text>
        <Status of={STATES[part.state] ?? 'running'} />
      </Group>
      <Data value={(part.input ?? null) as Json} />
      {part.state === 'output-available' && !isSaid(part.output) && <Data value={part.output as Json} />}
      {reason !== null && <Text size="sm">{reason}</Text>}
      {part.state === 'approval-requested' && task !== null && (
        <Group justify="space-between" mt="xs">
          <Text size="sm">Waiting for approval. Nothing runs before that.</Text>
          <Link to="/inbox" search={{ view: 'open', task: task.task_id }}>
            Open the task
          </Link>
        </Group>
      )}
      {run?.execution_run?.startsWith('run_') === true && (
        <Text size="sm">
          Done by <RunLink id={run.execution_run} />
        </Text>
      )}
    </Card>
  )
}

/** Shows the plan card instead of the execution card, if there is a plan. */
const Planned = ({ part, parts, answer }: ExecutionProps) => {
  const plan = dataOf<ProposedPlan>(parts, 'data-plan')
  if (plan === null) return <Execution part={part} parts={parts} answer={answer} />
  const run = plan.run_id ?? dataOf<RunNews>(parts, 'data-run')?.execution_run ?? null
  const task = dataOf<{ readonly task_id: string }>(parts, 'data-task')?.task_id ?? null
  const approval = part.state === 'approval-requested' ? part.approval.id : null
  const asked = approval === null ? null : { task, answer: (isYes: boolean) => answer(approval, isYes) }
  return <PlanCard plan={plan} asked={asked} reason={reasonOf(part, parts)} run={run} />
}

const FailedAnswer = ({ error, again }: { readonly error: ErrorNews; readonly again: (() => void) | null }) => (
  <ErrorBox title={error.message} hint={error.hint} code={error.code}>
    {again !== null && (
      <Button size="xs" variant="default" onClick={again}>
        Try again
      </Button>
    )}
  </ErrorBox>
)

const PartView = ({
  part,
  parts,
  answer,
}: {
  readonly part: Part
  readonly parts: readonly Part[]
  readonly answer: Answer
}) => {
  if (part.type === 'text') return <Markdown text={part.text} />
  if (part.type === 'dynamic-tool') return <Planned part={part} parts={parts} answer={answer} />
  return null
}

const WHO: Readonly<Record<string, string>> = { user: 'You', assistant: 'Assistant' }

interface MessageProps {
  readonly message: UIMessage
  readonly again: (() => void) | null
  readonly answer: Answer
}

export const Message = ({ message, again, answer }: MessageProps) => {
  const { role, metadata, id } = message
  const about = (metadata ?? {}) as { readonly run_id?: string; readonly simulated?: boolean }
  const parts = lasting(message.parts)
  const error = dataOf<ErrorNews>(parts, 'data-error')
  return (
    <li className="message" data-role={role}>
      <Group gap="xs" className="who">
        <Text size="sm" fw={650}>
          {WHO[role] ?? role}
        </Text>
        {role === 'assistant' && about.simulated === true && (
          <Badge variant="outline" color="gray" tt="none" className="label">
            simulated
          </Badge>
        )}
        {role === 'assistant' && about.run_id !== undefined && <RunLink id={about.run_id} />}
      </Group>
      {parts.map((part, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are only appended, and have no ids
        <PartView key={`${id}-${i}`} part={part} parts={parts} answer={answer} />
      ))}
      {error !== null && <FailedAnswer error={error} again={again} />}
    </li>
  )
}
