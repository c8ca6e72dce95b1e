/** Actions of a schedule: pause with a reason, resume, run now, backfill a time range after counting its runs. */
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { sendJson } from '../../api/client.ts'
import type { BackfillCount, Schedule } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { queryClient } from '../../api/queries.ts'
import { complain, say } from '../../parts/say.ts'

const DAY_MS = 86_400_000

interface VerbCall {
  readonly verb: string
  readonly body?: object
}

const useVerb = ({ name }: Schedule, done: () => void) =>
  useMutation({
    mutationFn: ({ verb, body = {} }: VerbCall) => sendJson(`/api/schedules/${encodeURIComponent(name)}/${verb}`, body),
    onSuccess: done,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['schedules'] }),
    onError: complain,
  })

interface FormProps {
  readonly schedule: Schedule
  readonly close: () => void
}

const PauseForm = ({ schedule, close }: FormProps) => {
  const [reason, setReason] = useState('')
  const { mutate, isPending } = useVerb(schedule, close)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    mutate({ verb: 'pause', body: reason.trim() === '' ? {} : { reason: reason.trim() } })
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Reason"
          description="Shown next to the schedule"
          data-autofocus
          value={reason}
          onChange={(e) => setReason(e.currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button type="submit" size="xs" loading={isPending}>
            Pause
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** The value of a `datetime-local` field. */
const localText = (instant: number): string => {
  const shifted = instant - new Date(instant).getTimezoneOffset() * 60_000
  return new Date(shifted).toISOString().slice(0, 16)
}

const counted = ({ count, first, last }: BackfillCount): string => {
  if (count === 0 || first === null || last === null) return 'No runs in this range.'
  return `${count} ${count === 1 ? 'run' : 'runs'}, the first for ${first}, the last for ${last}.`
}

const BackfillForm = ({ schedule, close }: FormProps) => {
  const [from, setFrom] = useState(() => localText(Date.now() - DAY_MS))
  const [to, setTo] = useState(() => localText(Date.now()))
  const [found, setFound] = useState<BackfillCount | null>(null)
  const span = () => ({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })
  const count = useMutation({
    mutationFn: () => {
      const path = `/api/schedules/${encodeURIComponent(schedule.name)}/backfill?dry_run=true`
      return sendJson<BackfillCount>(path, span())
    },
    onSuccess: setFound,
    onError: complain,
  })
  const fill = useVerb(schedule, () => {
    say('teal', 'Backfill started', `${found?.count ?? 0} runs start one after another.`)
    close()
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (found === null) count.mutate()
    else fill.mutate({ verb: 'backfill', body: span() })
  }
  const changed = (set: (text: string) => void) => (text: string) => {
    set(text)
    setFound(null)
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">Starts a run for each scheduled time in this range, in your time zone.</Text>
        <TextInput
          type="datetime-local"
          label="From"
          required
          value={from}
          onChange={(e) => changed(setFrom)(e.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          label="To"
          required
          value={to}
          onChange={(e) => changed(setTo)(e.currentTarget.value)}
        />
        <Text size="sm" role="status">
          {found === null ? 'Count the runs first. Nothing starts yet.' : counted(found)}
        </Text>
        <Group justify="flex-end">
          <Button
            type="submit"
            size="xs"
            loading={count.isPending || fill.isPending}
            disabled={found !== null && found.count === 0}
          >
            {found === null ? 'Count' : `Start ${found.count} ${found.count === 1 ? 'run' : 'runs'}`}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

export const Verbs = ({ schedule }: { readonly schedule: Schedule }) => {
  const [form, setForm] = useState<'pause' | 'backfill' | null>(null)
  const { mutate, isPending } = useVerb(schedule, () => undefined)
  const mayOperate = useMay('operator')
  if (schedule.status === 'ended' || !mayOperate) return null
  const isPaused = schedule.status === 'paused'
  const close = (): void => setForm(null)
  const Form = form === 'pause' ? PauseForm : BackfillForm
  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        size="compact-xs"
        variant="default"
        loading={isPending}
        aria-label={`${isPaused ? 'Resume' : 'Pause'} ${schedule.name}`}
        onClick={() => (isPaused ? mutate({ verb: 'resume' }) : setForm('pause'))}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        loading={isPending}
        aria-label={`Run ${schedule.name} now`}
        onClick={() => mutate({ verb: 'run' })}
      >
        Run now
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Backfill ${schedule.name}`}
        onClick={() => setForm('backfill')}
      >
        Backfill
      </Button>
      <Modal
        opened={form !== null}
        onClose={close}
        title={form === 'pause' ? `Pause ${schedule.name}` : `Backfill ${schedule.name}`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {form !== null && <Form schedule={schedule} close={close} />}
      </Modal>
    </Group>
  )
}
