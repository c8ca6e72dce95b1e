/** Above every screen while everything is stopped: by whom, since when and why, and the button that lifts it. */
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { OctagonX } from 'lucide-react'
import { useEffect } from 'react'
import { sendJson } from '../api/client.ts'
import type { Stop } from '../api/documents.ts'
import { live } from '../api/live.ts'
import { useMay } from '../api/me.ts'
import { queryClient, stopQuery } from '../api/queries.ts'
import { complain } from '../parts/say.ts'
import { When } from '../parts/when.tsx'

/** A stop is an event, and so is much else: of all that come within a second it is asked about once. */
const ASK_WITHIN_MS = 1_000

const useNewsOfStops = (): void => {
  useEffect(() => {
    let timer: number | null = null
    const ask = (): void => {
      timer = null
      void queryClient.invalidateQueries({ queryKey: stopQuery.queryKey })
    }
    const forget = live.subscribe(({ topic }) => {
      if (topic === 'events') timer ??= window.setTimeout(ask, ASK_WITHIN_MS)
    })
    return () => {
      forget()
      if (timer !== null) window.clearTimeout(timer)
    }
  }, [])
}

const Lift = () => {
  const { mutate, isPending } = useMutation({
    mutationFn: () => sendJson<Stop>('/api/stop/lift', {}),
    onSuccess: (stop) => queryClient.setQueryData(stopQuery.queryKey, stop),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['workers'] }),
    onError: complain,
  })
  if (!useMay('operator')) return null
  return (
    <Button size="compact-sm" variant="default" loading={isPending} onClick={() => mutate()}>
      Let it go on
    </Button>
  )
}

export const StopBanner = () => {
  useNewsOfStops()
  const { data } = useQuery(stopQuery)
  if (data?.is_stopped !== true) return null
  return (
    <section className="stopped" aria-label="Everything is stopped">
      <OctagonX size={18} aria-hidden />
      <p role="status">
        <strong>Everything is stopped: no step begins.</strong> {data.by}
        {data.at !== null && (
          <>
            , <When at={data.at} />
          </>
        )}
        {data.reason !== null && `: ${data.reason}`}
      </p>
      <Lift />
    </section>
  )
}
