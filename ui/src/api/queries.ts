/**
 * All queries of the screens.
 *
 * The first part of a query key is a topic of the live stream: a notice about `runs` refetches every open query whose key starts with `runs`.
 */
import { type InfiniteData, infiniteQueryOptions, QueryClient, queryOptions } from '@tanstack/react-query'
import { getJson } from './client.ts'
import type {
  Chat,
  ChatList,
  Checkpoint,
  Circuit,
  ConfiguredSetting,
  Costs,
  DeadLetter,
  DelayedEvent,
  EventDetail,
  Health,
  InboxViews,
  Job,
  ManifestGraph,
  Page,
  Plan,
  Pool,
  RerunPreview,
  Run,
  RunCosts,
  RunCounts,
  RunDetail,
  RunMarks,
  SavedFilter,
  Schedule,
  ScheduleSlot,
  Session,
  SessionDetail,
  SessionDifference,
  StepDetail,
  Stop,
  StoredEvent,
  System,
  TaskCounts,
  TaskDetail,
  TaskHappening,
  TaskSummary,
  Timeline,
  Token,
  WebhookDelivery,
  WebhookEndpoint,
  Worker,
} from './documents.ts'

import type { Me } from './me.ts'

export const queryClient = new QueryClient({
  defaultOptions: { queries: { staleTime: 30_000, retry: 1, refetchOnWindowFocus: false } },
})

const pageOf = <Item>(key: readonly unknown[], path: string) =>
  infiniteQueryOptions({
    queryKey: key,
    // changes.ts refetches single pages with it.
    meta: { path },
    queryFn: ({ pageParam, signal }) => getJson<Page<Item>>(`${path}${pageParam}`, signal),
    initialPageParam: '',
    getNextPageParam: (last) => (last.next_cursor === null ? null : `&cursor=${encodeURIComponent(last.next_cursor)}`),
  })

export interface RunFilter {
  readonly status?: string | undefined
  readonly handler?: string | undefined
  readonly session?: string | undefined
}

const parameters = (given: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(given)
    .filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '')
    .map(([name, value]) => `&${name}=${encodeURIComponent(value)}`)
    .join('')

export const runsQuery = (filter: RunFilter) =>
  pageOf<Run>(['runs', 'list', filter], `/api/runs?limit=100${parameters({ ...filter })}`)

export const runCountsQuery = queryOptions({
  queryKey: ['runs', 'counts'],
  queryFn: ({ signal }) => getJson<RunCounts>('/api/runs/counts', signal),
})

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ['runs', 'one', id],
    queryFn: ({ signal }) => getJson<RunDetail>(`/api/runs/${id}`, signal),
  })

export const rerunQuery = (id: string, from: string | null, isChanged = false) =>
  queryOptions({
    queryKey: ['runs', 'rerun', id, from, isChanged],
    queryFn: ({ signal }) => {
      const choice = new URLSearchParams({ ...(from !== null && { from }), ...(isChanged && { changed: 'true' }) })
      return getJson<RerunPreview>(`/api/runs/${id}/rerun${choice.size === 0 ? '' : `?${choice}`}`, signal)
    },
  })

/** The history of a run only grows, so this fetches only what follows the last known entry. */
const marksAfter = async (id: string, known: RunMarks | undefined, signal: AbortSignal): Promise<RunMarks> => {
  const marks = [...(known?.marks ?? [])]
  for (;;) {
    const page = await getJson<Timeline>(`/api/runs/${id}/timeline?cursor=${marks.length}`, signal)
    const { handler, status, items, next_cursor } = page
    marks.push(...items)
    const isNew = known === undefined || marks.length > known.marks.length || status !== known.status
    if (next_cursor === null) return isNew ? { id, handler, status, marks } : known
  }
}

export const timelineQuery = (id: string) => {
  const queryKey = ['runs', 'timeline', id]
  return queryOptions({
    queryKey,
    queryFn: ({ signal }) => marksAfter(id, queryClient.getQueryData<RunMarks>(queryKey), signal),
    // An unchanged timeline is already the same object; comparing thousands of entries would be slow.
    structuralSharing: false,
  })
}

/** Details of a step. With null: of the run itself. */
export const stepQuery = (run: string, step: string | null) =>
  queryOptions({
    queryKey: ['runs', 'step', run, step],
    queryFn: ({ signal }) =>
      getJson<StepDetail>(`/api/runs/${run}/step${step === null ? '' : `?name=${encodeURIComponent(step)}`}`, signal),
  })

/** Under `runs`: a job is a run, and reports on other runs. */
export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ['runs', 'job', id],
    queryFn: ({ signal }) => getJson<Job>(`/api/jobs/${encodeURIComponent(id)}`, signal),
    retry: false,
  })

export const systemQuery = queryOptions({
  queryKey: ['system'],
  queryFn: ({ signal }) => getJson<System>('/api/manifest', signal),
})

export const filtersQuery = (me: Me) =>
  queryOptions({
    queryKey: ['filters', me],
    queryFn: ({ signal }) => getJson<Page<SavedFilter>>('/api/filters', signal),
  })

/** Under `runs`: the graph shows counts of runs. */
export const graphQuery = queryOptions({
  queryKey: ['runs', 'graph'],
  queryFn: ({ signal }) => getJson<ManifestGraph>('/api/manifest/graph', signal),
})

/** Under `runs`: a plan is shown with its runs. */
export const planQuery = (id: string) =>
  queryOptions({
    queryKey: ['runs', 'plan', id],
    queryFn: ({ signal }) => getJson<Plan>(`/api/plans/${id}`, signal),
  })

/** Under `runs`: each turn of a chat is a run. */
export const chatsQuery = queryOptions({
  queryKey: ['runs', 'chats'],
  queryFn: ({ signal }) => getJson<ChatList>('/api/chat?limit=100', signal),
})

export const chatQuery = (id: string) =>
  queryOptions({
    queryKey: ['runs', 'chat', id],
    queryFn: ({ signal }) => getJson<Chat>(`/api/chat/${encodeURIComponent(id)}`, signal),
    retry: false,
  })

export const eventsQuery = (type: string | undefined) =>
  pageOf<StoredEvent>(['events', 'list', type ?? ''], `/api/events?limit=100${parameters({ type })}`)

/** Under `runs`: each scheduled event waits as a run. */
export const delayedQuery = queryOptions({
  queryKey: ['runs', 'delayed'],
  queryFn: ({ signal }) => getJson<Page<DelayedEvent>>('/api/events/delayed?limit=100', signal),
})

/** Under `events`: the server announces a dead letter as an event. */
export const deadLettersQuery = queryOptions({
  queryKey: ['events', 'dead letters'],
  queryFn: ({ signal }) => getJson<Page<DeadLetter>>('/api/webhooks/dead-letters?limit=100', signal),
})

/** Under `runs`: shows the runs that the event started. */
export const eventQuery = (sequence: number) =>
  queryOptions({
    queryKey: ['runs', 'event', sequence],
    queryFn: ({ signal }) => getJson<EventDetail>(`/api/events/${sequence}`, signal),
  })

export const schedulesQuery = queryOptions({
  queryKey: ['schedules'],
  queryFn: ({ signal }) => getJson<Page<Schedule>>('/api/schedules', signal),
})

export const slotsQuery = (name: string) =>
  queryOptions({
    queryKey: ['schedules', 'slots', name],
    queryFn: ({ signal }) =>
      getJson<Page<ScheduleSlot>>(`/api/schedules/${encodeURIComponent(name)}/slots?limit=20`, signal),
  })

/** Polls: the server sends no notice for a heartbeat or when a run becomes due. */
const fleetQuery = <Item>(name: string, path: string) =>
  queryOptions({
    queryKey: ['workers', name],
    queryFn: ({ signal }) => getJson<Page<Item>>(path, signal),
    refetchInterval: 5_000,
  })

export const workersQuery = fleetQuery<Worker>('all', '/api/workers?limit=100')
export const poolsQuery = fleetQuery<Pool>('pools', '/api/pools')
export const circuitsQuery = fleetQuery<Circuit>('circuits', '/api/circuits')

export const stopQuery = queryOptions({
  queryKey: ['stop'],
  queryFn: ({ signal }) => getJson<Stop>('/api/stop', signal),
})

/** Polls: the server sends no notice when it becomes ready or stops being ready. */
export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: ({ signal }) => getJson<Health>('/api/health', signal),
  refetchInterval: 10_000,
})

const FILTERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  done: { status: 'closed' },
  overdue: { order: 'deadline' },
}

/** Tasks of one inbox view: the user's own, or everyone's for `open` and `done`. */
export const tasksQuery = (view: string, me: Me) => {
  const isEverybodys = view === 'open' || view === 'done'
  const filter = { ...(isEverybodys ? { all: 'true' } : { view }), ...FILTERS[view] }
  return {
    ...pageOf<TaskSummary>(['tasks', 'list', view, me], `/api/tasks?limit=200${parameters(filter)}`),
    // Everyone's tasks do not depend on the user: keep the rows while the user types their name.
    placeholderData: (
      before: InfiniteData<Page<TaskSummary>, string> | undefined,
      { queryKey }: { readonly queryKey?: readonly unknown[] } = {},
    ) => (isEverybodys && queryKey?.[2] === view ? before : undefined),
  }
}

export const taskCountsQuery = (me: Me) =>
  queryOptions({
    queryKey: ['tasks', 'counts', me],
    queryFn: ({ signal }) => getJson<TaskCounts>('/api/tasks/counts', signal),
  })

export const viewsQuery = (me: Me) =>
  queryOptions({
    queryKey: ['tasks', 'views', me],
    queryFn: ({ signal }) => getJson<InboxViews>('/api/tasks/views', signal),
  })

export const taskHistoryQuery = (id: string) =>
  queryOptions({
    queryKey: ['tasks', 'history', id],
    queryFn: ({ signal }) => getJson<Page<TaskHappening>>(`/api/tasks/${id}/history?limit=200`, signal),
  })

/** A task with the actions that this user may take. Not cached after the task is closed, so that opening it again shows newer drafts. */
export const taskQuery = (id: string, me: Me) =>
  queryOptions({
    gcTime: 0,
    queryKey: ['tasks', 'one', id, me],
    queryFn: ({ signal }) => getJson<TaskDetail>(`/api/tasks/${id}`, signal),
  })

/** Several tasks to decide together. Not under `tasks`: a live update must not change what the user is about to decide. */
export const bulkQuery = (ids: readonly string[], me: Me) =>
  queryOptions({
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryKey: ['tasks at once', ids, me],
    queryFn: ({ signal }) => Promise.all(ids.map((id) => getJson<TaskDetail>(`/api/tasks/${id}`, signal))),
  })

/** Open questions with the same cause, for example one lost worker. */
export const sameCauseQuery = (cause: string, me: Me) =>
  queryOptions({
    queryKey: ['tasks', 'same cause', cause, me],
    queryFn: async ({ signal }) => {
      const page = await getJson<Page<TaskSummary>>('/api/tasks?type=decision&all=true&limit=200', signal)
      return page.items.filter((task) => task.cause === cause)
    },
  })

export const sessionsQuery = pageOf<Session>(['sessions', 'list'], '/api/sessions?limit=100')

export const sessionQuery = (id: string) =>
  queryOptions({
    queryKey: ['sessions', 'one', id],
    queryFn: ({ signal }) => getJson<SessionDetail>(`/api/sessions/${id}`, signal),
  })

export const checkpointsQuery = (id: string) =>
  queryOptions({
    queryKey: ['sessions', 'checkpoints', id],
    queryFn: ({ signal }) => getJson<Page<Checkpoint>>(`/api/sessions/${id}/checkpoints?limit=200`, signal),
  })

/** Checkpoints never change. */
export const differenceQuery = (id: string, a: string, b: string) =>
  queryOptions({
    queryKey: ['difference', id, a, b],
    queryFn: ({ signal }) => getJson<SessionDifference>(`/api/sessions/${id}/diff?a=${a}&b=${b}`, signal),
  })

/** Under `runs`: the runs of a session. */
export const sessionRunsQuery = (id: string) =>
  queryOptions({
    queryKey: ['runs', 'of session', id],
    queryFn: ({ signal }) => getJson<Page<Run>>(`/api/sessions/${id}/runs?limit=50`, signal),
  })

const DAY_MS = 86_400_000

const firstDay = (days: number): string => new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10)

export const runCostsQuery = (days: number) => {
  const from = firstDay(days)
  return queryOptions({
    queryKey: ['runs', 'cost of one', from],
    queryFn: ({ signal }) => getJson<RunCosts>(`/api/costs/runs?from=${from}`, signal),
  })
}

/** Under `runs`: each model call is a step of a run. */
export const costsQuery = (by: string, days: number) => {
  const from = firstDay(days)
  return queryOptions({
    queryKey: ['runs', 'costs', by, from],
    queryFn: ({ signal }) => getJson<Costs>(`/api/costs?by=${by}&from=${from}`, signal),
  })
}

export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: ({ signal }) => getJson<Page<Token>>('/api/tokens', signal),
})

export const configurationQuery = queryOptions({
  queryKey: ['configuration'],
  queryFn: ({ signal }) => getJson<Page<ConfiguredSetting>>('/api/configuration', signal),
})

/** Under `runs`: each delivery is a run, and changes the health of its endpoint. */
export const endpointsQuery = queryOptions({
  queryKey: ['runs', 'endpoints'],
  queryFn: ({ signal }) => getJson<Page<WebhookEndpoint>>('/api/webhook-endpoints', signal),
})

export const deliveriesQuery = (name: string) =>
  queryOptions({
    queryKey: ['runs', 'deliveries', name],
    queryFn: ({ signal }) =>
      getJson<Page<WebhookDelivery>>(`/api/webhook-endpoints/${encodeURIComponent(name)}/deliveries?limit=20`, signal),
  })
