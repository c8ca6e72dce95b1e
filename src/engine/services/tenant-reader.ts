/**
 * The Reader of one tenant: whichever tenant a query names, it reads this one.
 *
 * Owns the boundary of what pages see. A route cannot read beyond its caller's tenant, whatever the request says. Workers belong to the
 * server, so a tenant sees none.
 *
 * tenant-1  No answer contains data of another tenant.
 */
import type { TenantId } from '#model/kernel/ids.ts'
import type { Reader } from '#ports/reader.ts'

export const tenantReader = (reader: Reader, tenant: TenantId): Reader => ({
  runs: (query) => reader.runs({ ...query, tenant }),
  run: (_, id) => reader.run(tenant, id),
  runsEndingWith: (_, digits) => reader.runsEndingWith(tenant, digits),
  children: (_, id) => reader.children(tenant, id),
  facts: (_, id, page) => reader.facts(tenant, id, page),
  counts: (_, handler) => reader.counts(tenant, handler),
  newestCounts: (_, most) => reader.newestCounts(tenant, most),
  events: (query) => reader.events({ ...query, tenant }),
  eventsWithId: (_, id) => reader.eventsWithId(tenant, id),
  startedBy: (_, event, limit) => reader.startedBy(tenant, event, limit),
  suppressed: (_, event) => reader.suppressed(tenant, event),
  document: (_, table, key) => reader.document(tenant, table, key),
  documents: (query) => reader.documents({ ...query, tenant }),
  workers: () => Promise.resolve([]),
  heldBy: () => Promise.resolve([]),
  due: () => Promise.resolve([]),
  pinned: (_, most) => reader.pinned(tenant, most),
  tasks: (query) => reader.tasks({ ...query, tenant }),
  task: (_, id) => reader.task(tenant, id),
  taskCounts: (_, addresses, most) => reader.taskCounts(tenant, addresses, most),
  inboxGlance: (query) => reader.inboxGlance({ ...query, tenant }),
  openTasks: (_, now) => reader.openTasks(tenant, now),
  sessions: (query) => reader.sessions({ ...query, tenant }),
  session: (_, id) => reader.session(tenant, id),
  forks: (_, id) => reader.forks(tenant, id),
  sessionRuns: (query) => reader.sessionRuns({ ...query, tenant }),
  modelCalls: (query) => reader.modelCalls({ ...query, tenant }),
})
