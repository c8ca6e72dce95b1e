/**
 * Waits for runs: until they have ended, or until no run is at work.
 *
 * Owns the polling and the exit code for the results of runs. Without a time limit a wait only ends when the user interrupts it.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Api } from '#cli/connect/api.ts'
import { EXIT } from '#cli/terminal/output.ts'
import { untilAskedToStop } from '#cli/terminal/stop-signal.ts'
import type { RunDetail } from '#http/openapi/api.ts'
import type { Page } from '#http/server/query.ts'
import { isEnded, type RunStatus } from '#model/run/status.ts'

const POLL_MS = 100
/** The longest delay of a timer: 24 days. */
const LONGEST_MS = 2 ** 31 - 1
/** How long a command that opened the ledger itself lets runs work. */
const QUIET_WITHIN_MS = 30_000

/** Polls until the condition holds or the time is up; returns the last answer in either case. */
export const poll = async <Answer>(
  ask: () => Promise<Answer>,
  holds: (answer: Answer) => boolean,
  limitMs: number,
): Promise<Answer> => {
  let isOver = false
  const timer = setTimeout(() => {
    isOver = true
  }, limitMs)
  try {
    for (;;) {
      const answer = await ask()
      if (holds(answer) || isOver) return answer
      await pause(POLL_MS)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Polls until the condition holds, the time is up (null: never) or the user interrupts. */
export const pollUntil = <Answer>(
  ask: () => Promise<Answer>,
  holds: (answer: Answer) => boolean,
  limitMs: number | null,
): Promise<Answer | 'interrupted'> =>
  Promise.race([poll(ask, holds, limitMs ?? LONGEST_MS), untilAskedToStop().then((): 'interrupted' => 'interrupted')])

type Counts = Readonly<Record<RunStatus, number>>

/** A delayed event is a queued run until its time comes, which may take a week. At most this many are counted. */
const MOST_DELAYED = 200

const isQuiet = async (api: Api): Promise<boolean> => {
  const { queued, running, cancelling } = await api.get<Counts>('/api/runs/counts')
  if (running + cancelling > 0 || queued === 0) return running + cancelling === 0
  const { items } = await api.get<Page<unknown>>(`/api/events/delayed?limit=${MOST_DELAYED}`)
  return queued === items.length
}

/** Waits until every run has ended or waits for something. */
const untilQuiet = (api: Api, limitMs = QUIET_WITHIN_MS): Promise<unknown> =>
  poll(
    () => isQuiet(api),
    (isSo) => isSo,
    limitMs,
  )

export const hasEnded = (run: Pick<RunDetail, 'status'>): boolean => isEnded(run.status as RunStatus)

export const detailsOf = async (api: Api, ids: readonly string[]): Promise<readonly RunDetail[]> => {
  const details: RunDetail[] = []
  for (const id of ids) details.push(await api.get<RunDetail>(`/api/runs/${id}`))
  return details
}

/** The runs after the requested wait. Null: no wait was requested, but if the ledger was opened here its runs are given time to work first. */
export const settled = async (
  api: Api,
  ids: readonly string[],
  waitMs: number | null,
): Promise<readonly RunDetail[]> => {
  if (waitMs !== null)
    return poll(
      () => detailsOf(api, ids),
      (runs) => runs.every(hasEnded),
      waitMs,
    )
  if (api.isLocal) await untilQuiet(api)
  return detailsOf(api, ids)
}

export const exitCodeFor = (runs: readonly RunDetail[]): number => {
  if (!runs.every(hasEnded)) return EXIT.waitedOut
  return runs.every((run) => run.status === 'success') ? EXIT.done : EXIT.no
}

/** The result of a run, as a row and as a document. */
export const outcomeRow = ({ id, handler, status, error }: RunDetail): readonly string[] => [
  id,
  handler,
  status,
  error === null ? '' : `${error.code}: ${error.message}`,
]

export const outcomeOf = ({ id, handler, status, output, error }: RunDetail) => ({ id, handler, status, output, error })
