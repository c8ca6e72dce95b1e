/** The question before a run is cancelled: it cannot be taken back. */
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useRef, useState } from 'react'
import type { RunDetail } from '../../api/documents.ts'
import { focusAtOnce } from '../../parts/focus-at-once.ts'
import { useKeys } from '../../parts/use-keys.ts'

export interface CancelDialogProps {
  readonly run: RunDetail
  readonly close: () => void
  readonly cancel: (reason: string) => void
}

export const CancelDialog = ({ run, close, cancel }: CancelDialogProps) => {
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
