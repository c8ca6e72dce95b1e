/**
 * What the screens ask for, under keys that notices can name.
 *
 * The first part of a key is the topic of the stream: a notice about `runs` asks every open query of that topic again.
 */
import { type InfiniteData, infiniteQueryOptions, QueryClient, queryOptions } from '@tanstack/react-query'
import { getJson } from './client.ts'
import type {
  Chat,
  ChatList,
  Checkpoint,
  Costs,
  EventDetail,
  Health,
  Job,
  ManifestGraph,
  Page,
  Run,
  RunCounts,
  RunDetail,
  SavedFilter,
  Schedule,
  Session,
  SessionDetail,
  StoredEvent,
  System,
  TaskDetail,
  TaskSummary,
  Worker,
} from './documents.ts'
import type { Me } from './me.ts'

export const queryClient = new QueryClient({
  defaultOptions: { queries: { staleTime: 30_000, retry: 1, refetchOnWindowFocus: false } },
})

const pageOf = <Item>(key: readonly unknown[], path: string) =>
  infiniteQueryOptions({
    queryKey: key,
    // For whoever asks for one page alone (news.ts).
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

/** Under `runs`: it is one, and tells of others. */
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

/** Under `runs`: its counts change with them. */
export const graphQuery = queryOptions({
  queryKey: ['runs', 'graph'],
  queryFn: ({ signal }) => getJson<ManifestGraph>('/api/manifest/graph', signal),
})

/** Under `runs`: a turn is one. */
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

/** Under `runs`: what it started goes on. */
export const eventQuery = (sequence: number) =>
  queryOptions({
    queryKey: ['runs', 'event', sequence],
    queryFn: ({ signal }) => getJson<EventDetail>(`/api/events/${sequence}`, signal),
  })

export const schedulesQuery = queryOptions({
  queryKey: ['schedules'],
  queryFn: ({ signal }) => getJson<Page<Schedule>>('/api/schedules', signal),
})

export const workersQuery = queryOptions({
  queryKey: ['workers'],
  queryFn: ({ signal }) => getJson<Page<Worker>>('/api/workers?limit=100', signal),
  // A beat is no news that anybody is told of.
  refetchInterval: 5_000,
})

export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: ({ signal }) => getJson<Health>('/health', signal),
})

/** Whose tasks, and of which kind: those of whoever sits here, or everybody's. */
export const tasksQuery = (view: string, me: Me) => {
  const filter = view === 'done' ? { status: 'closed', all: 'true' } : view === 'mine' ? {} : { all: 'true' }
  return {
    ...pageOf<TaskSummary>(['tasks', 'list', view, me], `/api/tasks?limit=200${parameters(filter)}`),
    // Everybody's tasks are the same for everybody: they stay, and keys find them, while somebody says who they are.
    placeholderData: (
      before: InfiniteData<Page<TaskSummary>, string> | undefined,
      { queryKey }: { readonly queryKey?: readonly unknown[] } = {},
    ) => (view !== 'mine' && queryKey?.[2] === view ? before : undefined),
  }
}

export const taskCountsQuery = (me: Me) =>
  queryOptions({
    queryKey: ['tasks', 'counts', me],
    queryFn: ({ signal }) => getJson<Readonly<Record<string, number>>>('/api/tasks/counts', signal),
  })

/** What a person may do depends on who asks. Forgotten when it is left: whoever comes back finds the marks that were saved meanwhile. */
export const taskQuery = (id: string, me: Me) =>
  queryOptions({
    gcTime: 0,
    queryKey: ['tasks', 'one', id, me],
    queryFn: ({ signal }) => getJson<TaskDetail>(`/api/tasks/${id}`, signal),
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

/** Under `runs`: they change when one of them does. */
export const sessionRunsQuery = (id: string) =>
  queryOptions({
    queryKey: ['runs', 'of session', id],
    queryFn: ({ signal }) => getJson<Page<Run>>(`/api/sessions/${id}/runs?limit=50`, signal),
  })

const DAY_MS = 86_400_000

/** Under `runs`: each call of a model is a step of one. */
export const costsQuery = (by: string, days: number) => {
  const from = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10)
  return queryOptions({
    queryKey: ['runs', 'costs', by, from],
    queryFn: ({ signal }) => getJson<Costs>(`/api/costs?by=${by}&from=${from}`, signal),
  })
}
