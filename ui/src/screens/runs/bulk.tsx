/** Applies an action to many runs: the selected ones, or all that match the filter. Asks for confirmation first. */
import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Ban, ListChecks, Pause, Play, RotateCcw } from 'lucide-react'
import { useRef, useState } from 'react'
import { sendJson } from '../../api/client.ts'
import type { Job } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { DropDown } from '../../parts/drop-down.tsx'
import { focusAtOnce } from '../../parts/focus-at-once.ts'
import { ErrorBox, shownError } from '../../parts/state.tsx'
import { type Terms, writeTerms } from '../../parts/terms.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { filterOf, isFiltered } from './filter.ts'
import type { Selection } from './use-selection.ts'

const runsRoute = getRouteApi('/runs')

const ACTIONS = [
  {
    action: 'pause',
    label: 'Pause',
    icon: Pause,
    does: 'No new steps start until you resume. Steps in progress finish.',
  },
  { action: 'resume', label: 'Resume', icon: Play, does: 'Paused runs continue where they stopped.' },
  {
    action: 'retry',
    label: 'Retry',
    icon: RotateCcw,
    does: 'Failed runs start again. Finished steps are not repeated.',
  },
  { action: 'cancel', label: 'Cancel', icon: Ban, does: "Runs in progress are cancelled. This can't be undone." },
] as const
type Action = (typeof ACTIONS)[number]

type Target = { readonly ids: readonly string[] } | { readonly where: Terms }

const MOST = 1_000

const nameOf = (target: Target): string => {
  if ('where' in target) return `all runs with ${writeTerms(target.where)}`
  return target.ids.length === 1 ? '1 run' : `${target.ids.length} runs`
}

const Confirm = ({
  order: { action, label, does },
  target,
  close,
  done,
}: {
  readonly order: Action
  readonly target: Target
  readonly close: () => void
  readonly done: (job: Job) => void
}) => {
  const [reason, setReason] = useState('')
  // One idempotency key for all attempts of this action.
  const [key] = useState(() => crypto.randomUUID())
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      sendJson<Job>('/api/runs/bulk', { action, ...target, ...(reason === '' ? {} : { reason }) }, { key }),
    onSuccess: done,
  })
  const written = useRef<HTMLFormElement>(null)
  useKeys({ '$mod+Enter': () => written.current?.requestSubmit() })
  return (
    <Modal opened onClose={close} title={`${label} ${nameOf(target)}`} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        ref={written}
        onSubmit={(event) => {
          event.preventDefault()
          mutate()
        }}
      >
        <Stack gap="sm">
          <Text size="sm">{does}</Text>
          <Textarea
            label="Reason"
            description="Saved in the history of each run"
            data-autofocus
            ref={focusAtOnce}
            autosize
            minRows={2}
            maxLength={1_000}
            value={reason}
            onChange={(e) => setReason(e.currentTarget.value)}
          />
          {error !== null && <ErrorBox {...shownError(error)} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Back
            </Button>
            <Button type="submit" loading={isPending}>
              {label} {nameOf(target).startsWith('all') ? 'all' : nameOf(target)}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

/** Asks for confirmation, starts the job, and shows its progress. */
const useOrder = (target: Target, after: () => void = () => {}) => {
  const navigate = runsRoute.useNavigate()
  const [order, setOrder] = useState<Action | null>(null)
  const close = (): void => setOrder(null)
  const done = ({ id }: Job): void => {
    close()
    after()
    void navigate({ search: (before) => ({ ...before, job: id }) })
  }
  const dialog = order !== null && <Confirm order={order} target={target} close={close} done={done} />
  return { ask: setOrder, dialog }
}

export const ChosenRuns = ({ selection }: { readonly selection: Selection }) => {
  const { ids } = selection
  const { ask, dialog } = useOrder({ ids: [...ids] }, () => selection.all(false))
  if (!useMay('operator') || ids.size === 0) return null
  return (
    <section className="bulk" aria-label="Selected runs">
      <Text size="sm" fw={600} aria-live="polite">
        {ids.size} selected
      </Text>
      {ACTIONS.map((action) => (
        <Button
          key={action.action}
          size="compact-sm"
          variant="default"
          disabled={ids.size > MOST}
          leftSection={<action.icon size={14} aria-hidden />}
          onClick={() => ask(action)}
        >
          {action.label}
        </Button>
      ))}
      <Button size="compact-sm" variant="subtle" onClick={() => selection.all(false)}>
        Clear
      </Button>
      {dialog}
    </section>
  )
}

/** Actions on all runs that match the filter, loaded or not. */
export const FittingRuns = () => {
  const filter = filterOf(runsRoute.useSearch())
  const { ask, dialog } = useOrder({ where: filter })
  if (!useMay('operator') || !isFiltered(filter)) return null
  return (
    <>
      <DropDown
        label="Select all matching"
        icon={ListChecks}
        choices={ACTIONS.map((action) => ({
          key: action.action,
          label: `${action.label} all matching…`,
          icon: action.icon,
          choose: () => ask(action),
        }))}
      />
      {dialog}
    </>
  )
}
