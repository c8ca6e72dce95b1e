/** One run: why it waits, its timeline, one step of it in full, and what a person may do to it. What is chosen is in the address. */
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

// What the status of a run lets a person do. Whether it may be done is asked of the server with the deed itself.

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
/** Also while its last step goes on: the status says so only after that. */
const isPaused = ({ waiting_on }: Pick<RunDetail, 'waiting_on'>): boolean =>
  waiting_on.some(({ kind }) => kind === 'paused')

// The question before a run is cancelled: it cannot be taken back.

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
      // A browser may take it for a plain Enter in the field, and submit once more.
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
            What is under way is stopped, and with it the runs and the tasks that this run waits for. Finished steps
            stay finished: it can be retried from there.
          </Text>
          <TextInput
            label="Reason"
            description="Kept with the run"
            data-autofocus
            ref={focusAtOnce}
            value={reason}
            onChange={(e) => setReason(e.currentTarget.value)}
          />
          <Group justify="flex-end" gap="xs">
            <Button size="xs" variant="default" onClick={close}>
              Let it go on
            </Button>
            <Button size="xs" color="red" type="submit" aria-keyshortcuts="Control+Enter">
              Cancel the run
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

// Why a run does not go on, in one sentence, with what a person can do about it: the task that asks.

/** The task is the only place where it is answered: it has the evidence, the people who may, and the warning. */
const UncertainStep = ({ wait: { step, task } }: { readonly wait: WaitingOn }) => (
  <Alert color="orange" variant="outline" title={`Did it happen? ${step ?? ''}`}>
    <Stack gap="xs" align="flex-start">
      <Text size="sm">
        It is not known whether the effect of this step took place. The run goes on after an answer.
      </Text>
      {task != null && (
        <Button size="xs" renderRoot={(props) => <Link to="/inbox" search={{ view: 'open', task }} {...props} />}>
          Open the question
        </Button>
      )}
    </Stack>
  </Alert>
)

/** The nearest instant at which time alone helps. */
const nextOf = ({ waiting_on }: RunDetail): string | undefined =>
  waiting_on.flatMap(({ until }) => until ?? []).sort()[0]

const Why = ({ run }: { readonly run: RunDetail }) => {
  const next = nextOf(run)
  if (run.skipped.length === 0 && (hasEnded(run) || run.waiting_on.length === 0)) return null
  return (
    <Stack gap="xs">
      <div className="waits">
        <strong>{hasEnded(run) ? 'What was not done?' : 'Why is it waiting?'}</strong> <Linked text={run.why} />
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

// What a person may do to a run: begin it again, hold it, let it go on, end it.

// What a person does to a run: sent to the server, whose answer shows by itself; a refusal is told at the corner.

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
          began <When at={run.created_at} />
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
  // Together with the run, not after it.
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
