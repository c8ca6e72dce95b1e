/** Which screen stands at which path. Filters and selections live in the address. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { mountPath } from './api/client.ts'
import { Costs } from './screens/costs/costs.tsx'
import { Events } from './screens/events.tsx'
import { Inbox } from './screens/inbox/inbox.tsx'
import { Run } from './screens/run/run.tsx'
import { Runs } from './screens/runs/runs.tsx'
import { Schedules } from './screens/schedules.tsx'
import { Session } from './screens/sessions/session.tsx'
import { Sessions } from './screens/sessions/sessions.tsx'
import { Settings } from './screens/settings.tsx'
import { Workers } from './screens/workers.tsx'
import { NotFound, Shell } from './shell/shell.tsx'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })

interface RunsSearch {
  readonly status?: string | undefined
  readonly handler?: string | undefined
  readonly session?: string | undefined
  /** The job whose progress is shown. */
  readonly job?: string | undefined
}

interface InboxSearch {
  readonly view?: string | undefined
  readonly task?: string | undefined
}

interface EventsSearch {
  readonly type?: string | undefined
}

interface CostsSearch {
  readonly days?: number | undefined
}

interface GraphSearch {
  readonly view?: string | undefined
  readonly node?: string | undefined
}

interface ChatSearch {
  readonly id?: string | undefined
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/inbox' })
  },
})

const inbox = createRoute({
  getParentRoute: () => root,
  path: '/inbox',
  validateSearch: (search): InboxSearch => ({ view: text(search['view']), task: text(search['task']) }),
  component: Inbox,
})

const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: (search): RunsSearch => ({
    status: text(search['status']),
    handler: text(search['handler']),
    session: text(search['session']),
    job: text(search['job']),
  }),
  component: Runs,
})

const run = createRoute({ getParentRoute: () => root, path: '/runs/$id', component: Run })

const events = createRoute({
  getParentRoute: () => root,
  path: '/events',
  validateSearch: (search): EventsSearch => ({ type: text(search['type']) }),
  component: Events,
})

const graph = createRoute({
  getParentRoute: () => root,
  path: '/graph',
  validateSearch: (search): GraphSearch => ({ view: text(search['view']), node: text(search['node']) }),
  component: lazyRouteComponent(() => import('./screens/graph/graph.tsx'), 'Graph'),
})

const chat = createRoute({
  getParentRoute: () => root,
  path: '/chat',
  validateSearch: (search): ChatSearch => ({ id: text(search['id']) }),
  component: lazyRouteComponent(() => import('./screens/chat/chat.tsx'), 'Chat'),
})

const sessions = createRoute({ getParentRoute: () => root, path: '/sessions', component: Sessions })
const session = createRoute({ getParentRoute: () => root, path: '/sessions/$id', component: Session })

const costs = createRoute({
  getParentRoute: () => root,
  path: '/costs',
  validateSearch: (search): CostsSearch => ({ days: Number(search['days']) > 0 ? Number(search['days']) : undefined }),
  component: Costs,
})

const settings = createRoute({ getParentRoute: () => root, path: '/settings', component: Settings })
const schedules = createRoute({ getParentRoute: () => root, path: '/schedules', component: Schedules })
const workers = createRoute({ getParentRoute: () => root, path: '/workers', component: Workers })

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    inbox,
    runs,
    run,
    sessions,
    session,
    graph,
    chat,
    schedules,
    workers,
    costs,
    events,
    settings,
  ]),
  basepath: mountPath() || '/',
  defaultPreload: 'intent',
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
