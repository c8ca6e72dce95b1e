/** A banner above every screen while all workers are stopped: who stopped them, when and why, with a button to resume. */
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

/** A stop arrives as an event, like much else. Many events within a second lead to one refetch. */
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
      Resume all workers
    </Button>
  )
}

export const StopBanner = () => {
  useNewsOfStops()
  const { data } = useQuery(stopQuery)
  if (data?.is_stopped !== true) return null
  return (
    <section className="stopped" aria-label="All workers are stopped">
      <OctagonX size={18} aria-hidden />
      <p role="status">
        <strong>All workers are stopped. No new steps start.</strong> {data.by}
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
