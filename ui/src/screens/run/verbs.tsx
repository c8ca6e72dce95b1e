/** What a person may do to a run: begin it again, hold it, let it go on, end it. */
import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import type { RunDetail } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { letter } from '../../parts/typing.ts'
import { useKeys } from '../../parts/use-keys.ts'
import { CancelDialog } from './cancel-dialog.tsx'
import { canRetry, hasEnded, isPaused } from './run-state.ts'
import { useVerb } from './use-verb.ts'

export const Verbs = ({ run }: { readonly run: RunDetail }) => {
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
