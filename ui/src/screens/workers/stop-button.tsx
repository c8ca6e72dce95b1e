/** The button that stops everything, after a typed word. */
import { Button, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { OctagonX } from 'lucide-react'
import { useState } from 'react'
import { sendJson } from '../../api/client.ts'
import type { Stop } from '../../api/documents.ts'
import { useMay } from '../../api/me.ts'
import { queryClient, stopQuery } from '../../api/queries.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { complain } from '../../parts/say.ts'

const WORD = 'stop'

export const StopButton = () => {
  const [isAsked, setAsked] = useState(false)
  const [reason, setReason] = useState('')
  const { data } = useQuery(stopQuery)
  const { mutate } = useMutation({
    mutationFn: () => sendJson<Stop>('/api/stop', reason.trim() === '' ? {} : { reason: reason.trim() }),
    onSuccess: (stop) => queryClient.setQueryData(stopQuery.queryKey, stop),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['workers'] }),
    onError: complain,
  })
  if (!useMay('operator') || data === undefined || data.is_stopped) return null
  return (
    <>
      <Button
        size="xs"
        variant="outline"
        color="red"
        className="danger"
        leftSection={<OctagonX size={16} aria-hidden />}
        onClick={() => setAsked(true)}
      >
        Stop everything
      </Button>
      {isAsked && (
        <ConfirmDialog
          title="Stop everything"
          text="No worker begins a step until somebody lifts the stop, also none that starts later. Steps under way finish; runs wait where they are. People still decide, and events still come in."
          label="Stop everything"
          word={WORD}
          close={() => setAsked(false)}
          act={() => mutate()}
        >
          <TextInput
            label="Reason"
            description="Shown to everybody while it lasts"
            maxLength={500}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        </ConfirmDialog>
      )}
    </>
  )
}
