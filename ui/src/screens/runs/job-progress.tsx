/** The progress of a job: a bar, counts, and failures with their reason. */
import { Button, Group, Progress, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { sendJson } from '../../api/client.ts'
import type { Job } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { jobQuery } from '../../api/queries.ts'
import { shortId } from '../../parts/copy.tsx'
import { complain } from '../../parts/say.ts'
import { Failed } from '../../parts/state.tsx'
import { Status } from '../../parts/status.tsx'
import { writeTerms } from '../../parts/terms.ts'

const runsRoute = getRouteApi('/runs')
const OPEN = ['queued', 'running', 'waiting', 'paused']

const Bar = ({ job: { action, done, failed, total, is_total_known, status } }: { readonly job: Job }) => {
  const share = (count: number): number => (total === 0 ? 0 : (100 * count) / total)
  const isOpen = OPEN.includes(status)
  const words = `${done} done, ${failed} failed, ${total} ${is_total_known ? 'in all' : 'found so far'}`
  return (
    <>
      <Text size="sm" aria-live="polite">
        {words}
      </Text>
      <Progress.Root size="lg" aria-label={`${action}: ${words}`} role="group">
        <Progress.Section value={share(done)} color="teal.8" animated={isOpen} aria-label="done" />
        <Progress.Section value={share(failed)} color="red.8" aria-label="failed" />
      </Progress.Root>
    </>
  )
}

const Failures = ({ failures }: Pick<Job, 'failures'>) => (
  <ul className="failures">
    {failures.map(({ code, count, detail, runs }) => (
      <li key={code}>
        {count} × {detail}. <span className="quiet id">{code}</span>{' '}
        {runs.map((id) => (
          <Link key={id} to="/runs/$id" params={{ id }} className="id">
            {shortId(id)}{' '}
          </Link>
        ))}
        {count > runs.length && '…'}
      </li>
    ))}
  </ul>
)

const Shown = ({ job }: { readonly job: Job }) => {
  const navigate = runsRoute.useNavigate()
  const mayOperate = useMay('operator')
  const { mutate: stop, isPending } = useMutation({
    mutationFn: () => sendJson(`/api/runs/${job.id}/cancel`, { reason: 'the job was stopped' }),
    onError: complain,
  })
  const isOpen = OPEN.includes(job.status)
  return (
    <section className="job" aria-label={`Job ${shortId(job.id)}`}>
      <Group justify="space-between" gap="sm">
        <Group gap="sm">
          <Status of={job.status} />
          <Text size="sm" fw={600}>
            {job.action} {job.where === null ? 'selected runs' : writeTerms({ ...job.where })}
          </Text>
          <Text size="sm" className="quiet">
            by {job.by}
            {job.reason === null ? '' : `: ${job.reason}`}
          </Text>
        </Group>
        <Group gap="xs">
          {isOpen && mayOperate && (
            <Button size="compact-sm" variant="default" loading={isPending} onClick={() => stop()}>
              Stop
            </Button>
          )}
          <Button
            size="compact-sm"
            variant="subtle"
            onClick={() => void navigate({ search: (before) => ({ ...before, job: undefined }) })}
          >
            {isOpen ? 'Hide' : 'Close'}
          </Button>
        </Group>
      </Group>
      <Bar job={job} />
      {job.failures.length > 0 && <Failures failures={job.failures} />}
    </section>
  )
}

const Asked = ({ id }: { readonly id: string }) => {
  const { data, error, refetch } = useQuery(jobQuery(id))
  if (data !== undefined) return <Shown job={data} />
  return error === null ? null : <Failed error={error} again={() => void refetch()} />
}

export const JobProgress = () => {
  const { job } = runsRoute.useSearch()
  return job === undefined ? null : <Asked key={job} id={job} />
}
