/** One run: why it is waiting, its timeline, the details of a step, and the actions. The URL holds what is chosen. */
import { Alert, Button, Group, Modal, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, usePrefetchQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { sendJson } from '../../api/client.ts'
import type { RunDetail, WaitingOn } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { queryClient, runQuery, timelineQuery } from '../../api/queries.ts'
import { shortId } from '../../parts/copy.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { focusAtOnce } from '../../parts/focus-at-once.ts'
import { Linked } from '../../parts/linked.tsx'
import { complain } from '../../parts/say.ts'
import { Failed, Loading } from '../../parts/state.tsx'
import { Status } from '../../parts/status.tsx'
import { letter } from '../../parts/typing.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { When } from '../../parts/when.tsx'
import { Panel } from './panel.tsx'
import { type Chosen, Timeline } from './timeline.tsx'

// The actions that the status of a run allows. The server checks permissions on the request.

const ENDED: ReadonlySet<string> = new Set([
  'success',
  'partial',
  'failed',
  'cancelled',
  'skipped',
  'expired',
  'quarantined',
])
const RETRIABLE: ReadonlySet<string> = new Set(['failed', 'cancelled', 'expired', 'quarantined'])

const hasEnded = ({ status }: Pick<RunDetail, 'status'>): boolean => ENDED.has(status)
const canRetry = ({ status }: Pick<RunDetail, 'status'>): boolean => RETRIABLE.has(status)
/** Whether it is paused. While its last step still runs, only `waiting_on` shows it, not the status. */
const isPaused = ({ waiting_on }: Pick<RunDetail, 'waiting_on'>): boolean =>
  waiting_on.some(({ kind }) => kind === 'paused')

// The dialog that asks before a run is cancelled.

interface CancelDialogProps {
  readonly run: RunDetail
  readonly close: () => void
  readonly cancel: (reason: string) => void
}

const CancelDialog = ({ run, close, cancel }: CancelDialogProps) => {
  const [reason, setReason] = useState('')
  const form = useRef<HTMLFormElement>(null)
  useKeys({
    '$mod+Enter': (event) => {
      // A browser may treat it as a plain Enter in the field and submit twice.
      event.preventDefault()
      form.current?.requestSubmit()
    },
  })
  const submit = (event: { preventDefault(): void }): void => {
    event.preventDefault()
    close()
    cancel(reason.trim())
  }
  return (
    <Modal
      opened
      onClose={close}
      title={`Cancel ${run.handler}?`}
      transitionProps={{ exitDuration: 0 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form ref={form} onSubmit={submit}>
        <Stack gap="sm">
          <Text size="sm">
            Steps in progress stop, and so do the runs and tasks that this run waits for. Finished steps stay finished,
            so you can retry from there.
          </Text>
          <TextInput
            label="Reason"
            description="Saved in the history of the run"
            data-autofocus
            ref={focusAtOnce}
            value={reason}
            onChange={(e) => setReason(e.currentTarget.value)}
          />
          <Group justify="flex-end" gap="xs">
            <Button size="xs" variant="default" onClick={close}>
              Keep running
            </Button>
            <Button size="xs" color="red" type="submit" aria-keyshortcuts="Control+Enter">
              Cancel run
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

// Why a run is waiting, in one sentence, with a link to what a person can do about it.

/** An uncertain step. Links to its task, which has the evidence, the people who may answer, and the warning. */
const UncertainStep = ({ wait: { step, task } }: { readonly wait: WaitingOn }) => (
  <Alert color="orange" variant="outline" title={`Someone must confirm whether ${step ?? 'this step'} happened`}>
    <Stack gap="xs" align="flex-start">
      <Text size="sm">
        The worker stopped before it could report the result. The run continues after someone answers.
      </Text>
      {task != null && (
        <Button size="xs" renderRoot={(props) => <Link to="/inbox" search={{ view: 'open', task }} {...props} />}>
          Open question
        </Button>
      )}
    </Stack>
  </Alert>
)

/** The next time at which the run continues by itself. */
const nextOf = ({ waiting_on }: RunDetail): string | undefined =>
  waiting_on.flatMap(({ until }) => until ?? []).sort()[0]

const Why = ({ run }: { readonly run: RunDetail }) => {
  const next = nextOf(run)
  if (run.skipped.length === 0 && (hasEnded(run) || run.waiting_on.length === 0)) return null
  return (
    <Stack gap="xs">
      <div className="waits">
        <strong>{hasEnded(run) ? 'What was skipped?' : 'Why is it waiting?'}</strong> <Linked text={run.why} />
        {next !== undefined && (
          <span className="quiet">
            {' '}
            Next <When at={next} />.
          </span>
        )}
      </div>
      {run.waiting_on
        .filter(({ kind }) => kind === 'uncertain')
        .map((wait) => (
          <UncertainStep key={wait.step} wait={wait} />
        ))}
    </Stack>
  )
}

// The actions on a run: retry, pause, resume, cancel. A refusal is shown as a toast.

type Verb = 'retry' | 'pause' | 'resume' | 'cancel'

const useVerb = (id: string) => {
  const { mutate, isPending } = useMutation({
    mutationFn: ({ verb, body }: { readonly verb: Verb; readonly body: object }) =>
      sendJson(`/api/runs/${id}/${verb}`, body),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['runs'] }),
    onError: complain,
  })
  return { isPending, act: (verb: Verb, body: object = {}) => mutate({ verb, body }) }
}

const Verbs = ({ run }: { readonly run: RunDetail }) => {
  const { act, isPending } = useVerb(run.id)
  const [isAsking, setAsking] = useState(false)
  const may = useMay('operator')
  const isOpen = !hasEnded(run) && run.status !== 'cancelling'
  const [mayRetry, mayEnd] = [may && canRetry(run), may && isOpen]
  useKeys({
    t: letter(() => mayRetry && act('retry')),
    'Shift+C': letter(() => mayEnd && setAsking(true)),
  })
  return (
    <Group gap="xs">
      {mayRetry && (
        <Button size="xs" loading={isPending} aria-keyshortcuts="t" onClick={() => act('retry')}>
          Retry
        </Button>
      )}
      {mayEnd && (
        <Button size="xs" variant="default" loading={isPending} onClick={() => act(isPaused(run) ? 'resume' : 'pause')}>
          {isPaused(run) ? 'Resume' : 'Pause'}
        </Button>
      )}
      {mayEnd && (
        <Button
          size="xs"
          variant="default"
          loading={isPending}
          aria-keyshortcuts="Shift+C"
          onClick={() => setAsking(true)}
        >
          Cancel
        </Button>
      )}
      {isAsking && mayEnd && (
        <CancelDialog
          run={run}
          close={() => setAsking(false)}
          cancel={(reason) => act('cancel', reason === '' ? {} : { reason })}
        />
      )}
    </Group>
  )
}

const runRoute = getRouteApi('/runs/$id')

const Head = ({ run }: { readonly run: RunDetail }) => (
  <Group justify="space-between" align="flex-start">
    <div>
      <Group gap="xs">
        <Title order={1} size="h2">
          {run.handler}
        </Title>
        <Status of={run.status} />
      </Group>
      <Group gap="xs" className="quiet">
        <span className="id" data-id={run.id}>
          {shortId(run.id)}
        </span>
        <span>
          started <When at={run.created_at} />
        </span>
        <CopyAs id={run.id} document={run} command={`npx trihand runs show ${run.id}`} path={`/api/runs/${run.id}`} />
      </Group>
    </div>
    <Verbs run={run} />
  </Group>
)

const Body = ({ run }: { readonly run: RunDetail }) => {
  const { step, of, tab, view } = runRoute.useSearch()
  const navigate = runRoute.useNavigate()
  const chosen: Chosen = { run: of ?? run.id, step: step ?? null }
  const go = (change: object) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false })
  const choose = (next: Chosen) =>
    go({ step: next.step ?? undefined, of: next.run === run.id ? undefined : next.run, tab: undefined })
  return (
    <>
      <Timeline
        run={run.id}
        isOver={hasEnded(run)}
        chosen={chosen}
        choose={choose}
        isTable={view === 'table'}
        showTable={(isTable) => go({ view: isTable ? 'table' : undefined })}
      />
      <Panel run={run} chosen={chosen} tab={tab} open={(name) => go({ tab: name })} />
    </>
  )
}

export const Run = () => {
  const { id } = runRoute.useParams()
  // Load the timeline together with the run, not after it.
  usePrefetchQuery(timelineQuery(id))
  const { data: run, error, refetch } = useQuery(runQuery(id))
  if (run === undefined) return error === null ? <Loading /> : <Failed error={error} again={() => void refetch()} />
  return (
    <Stack gap="md" className="screen-body">
      <Head run={run} />
      <Why run={run} />
      <Body key={run.id} run={run} />
    </Stack>
  )
}
