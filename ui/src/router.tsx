/** Maps paths to screens. The URL holds filters and selections. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { mountPath } from './api/client.ts'
import { Costs } from './screens/costs/costs.tsx'
import { Events } from './screens/events/events.tsx'
import { Inbox } from './screens/inbox/inbox.tsx'
import { Run } from './screens/run/run.tsx'
import { Runs } from './screens/runs/runs.tsx'
import { Schedules } from './screens/schedules/schedules.tsx'
import { Session } from './screens/sessions/session.tsx'
import { Sessions } from './screens/sessions/sessions.tsx'
import { Workers } from './screens/workers/workers.tsx'
import { NotFound, Shell } from './shell/shell.tsx'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })

interface RunsSearch {
  readonly status?: string | undefined
  readonly handler?: string | undefined
  readonly session?: string | undefined
  /** The job whose progress the page shows. */
  readonly job?: string | undefined
}

interface RunSearch {
  readonly step?: string | undefined
  /** The child run that the step belongs to. Default: this run. */
  readonly of?: string | undefined
  readonly tab?: string | undefined
  readonly view?: string | undefined
}

interface InboxSearch {
  readonly view?: string | undefined
  readonly task?: string | undefined
}

interface EventsSearch {
  readonly view?: string | undefined
  readonly type?: string | undefined
  readonly source?: string | undefined
  readonly subject?: string | undefined
  readonly correlation?: string | undefined
  /** The event type that the send form is filled with. */
  readonly send?: string | undefined
}

interface SchedulesSearch {
  readonly name?: string | undefined
}

/** The two checkpoints to compare. */
interface SessionSearch {
  readonly a?: string | undefined
  readonly b?: string | undefined
}

interface CostsSearch {
  readonly days?: number | undefined
  /** `day` groups by day as well. */
  readonly by?: string | undefined
}

interface GraphSearch {
  readonly view?: string | undefined
  readonly node?: string | undefined
  /** Which side of the node is highlighted. */
  readonly line?: string | undefined
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

const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$id',
  validateSearch: (search): RunSearch => ({
    step: text(search['step']),
    of: text(search['of']),
    tab: text(search['tab']),
    view: text(search['view']),
  }),
  component: Run,
})

const events = createRoute({
  getParentRoute: () => root,
  path: '/events',
  validateSearch: (search): EventsSearch => ({
    view: text(search['view']),
    type: text(search['type']),
    source: text(search['source']),
    subject: text(search['subject']),
    correlation: text(search['correlation']),
    send: text(search['send']),
  }),
  component: Events,
})

const graph = createRoute({
  getParentRoute: () => root,
  path: '/graph',
  validateSearch: (search): GraphSearch => ({
    view: text(search['view']),
    node: text(search['node']),
    line: text(search['line']),
  }),
  component: lazyRouteComponent(() => import('./screens/graph/graph.tsx'), 'Graph'),
})

const chat = createRoute({
  getParentRoute: () => root,
  path: '/chat',
  validateSearch: (search): ChatSearch => ({ id: text(search['id']) }),
  component: lazyRouteComponent(() => import('./screens/chat/chat.tsx'), 'Chat'),
})

const plan = createRoute({
  getParentRoute: () => root,
  path: '/plans/$id',
  component: lazyRouteComponent(() => import('./screens/plans/plan.tsx'), 'Plan'),
})

const sessions = createRoute({ getParentRoute: () => root, path: '/sessions', component: Sessions })
const session = createRoute({
  getParentRoute: () => root,
  path: '/sessions/$id',
  validateSearch: (search): SessionSearch => ({ a: text(search['a']), b: text(search['b']) }),
  component: Session,
})

const costs = createRoute({
  getParentRoute: () => root,
  path: '/costs',
  validateSearch: (search): CostsSearch => ({
    days: Number(search['days']) > 0 ? Number(search['days']) : undefined,
    by: text(search['by']),
  }),
  component: Costs,
})

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  component: lazyRouteComponent(() => import('./screens/settings/settings.tsx'), 'Settings'),
})
const schedules = createRoute({
  getParentRoute: () => root,
  path: '/schedules',
  validateSearch: (search): SchedulesSearch => ({ name: text(search['name']) }),
  component: Schedules,
})
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
    plan,
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
