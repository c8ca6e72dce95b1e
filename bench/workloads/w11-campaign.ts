/**
 * W11: the example lead campaign, end to end, with scripted agents, functions that send mails, and a program that decides for people. All
 * leads start at once; every event that the ledger contains at the end counts.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createJiti } from 'jiti'
import { systemFromManifest } from '#cli/manifest/load-manifest.ts'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { LOCAL_TENANT, type TaskId } from '#model/kernel/ids.ts'
import type { Identity } from '#model/task/spec.ts'
import { PROJECT } from '#test/support/places.ts'
import { pause } from '#test/support/until.ts'
import { withEnvironment } from '../environment.ts'
import type { Measurement } from '../report.ts'
import type { BenchLedger } from '../target.ts'

const LEADS = 50
const EXAMPLE = join(PROJECT, 'examples/campaign')
const ANA: Identity = { id: 'ana', kind: 'user', groups: ['sales', 'operators'] }
const LOOK_MS = 2

const load = async (): Promise<SystemSource> => {
  const jiti = createJiti(import.meta.url, {
    moduleCache: false,
    fsCache: false,
    virtualModules: { trihand: await import('../../src/index.ts') },
  })
  const source = await systemFromManifest(join(EXAMPLE, 'manifest.yaml'), (path) => jiti.import(path))
  return { folder: EXAMPLE, ...source }
}

const openTasks = (app: Trihand) =>
  app.reader.tasks({
    ...{ tenant: LOCAL_TENANT, isOpen: true, addresses: null, viewer: null, status: null, type: null, claimedBy: null },
    ...{ run: null, order: 'oldest', after: null, limit: 100 },
  })

/** Approves the task; if the task was a campaign, the lead replies. */
const decide = async (app: Trihand, task: TaskId, decided: Set<TaskId>): Promise<void> => {
  if (decided.has(task)) return
  decided.add(task)
  const { state, handler } = await app.tasks.show(task)
  if (state.kind !== 'open') return
  await app.tasks.submit(task, ANA, { action: 'approve', shownHash: state.hash })
  if (handler !== 'review-campaign') return
  const { lead_id } = state.spec.context as { readonly lead_id: string }
  await app.send({ type: 'reply.received', data: { lead_id, text: 'Yes, let us have a call' } })
}

const closedLeads = async (app: Trihand): Promise<number> =>
  (await app.reader.events({ tenant: LOCAL_TENANT, type: 'lead.closed', before: null, limit: 1_000 })).length

const play = async (app: Trihand): Promise<number> => {
  const decided = new Set<TaskId>()
  const began = performance.now()
  await Promise.all(
    Array.from({ length: LEADS }, (_, i) => {
      const data = { lead_id: `l${i}`, first_name: 'Ada', company: `Company ${i}`, email: `${i}@lead.example` }
      return app.send({ type: 'lead.enriched', data: { ...data, industry: 'logistics' } })
    }),
  )
  while ((await closedLeads(app)) < LEADS) {
    const tasks = await openTasks(app)
    await Promise.all(tasks.map(({ id }) => decide(app, id, decided)))
    await pause(LOOK_MS)
  }
  const seconds = (performance.now() - began) / 1_000
  const [last] = await app.reader.events({ tenant: LOCAL_TENANT, type: null, before: null, limit: 1 })
  return (last?.sequence ?? 0) / seconds
}

export const campaignEvents = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'trihand-bench-'))
  const settings = { TRIHAND_DATA: folder, CAMPAIGN_PAUSE: '1ms', TRIHAND_MODELS: 'simulated' }
  const value = await withEnvironment(settings, () => playedIn(ledger, folder))
  rmSync(folder, { recursive: true, force: true })
  return [{ metric: `campaign of ${LEADS} leads, all three hands`, value, unit: 'events/s' }]
}

const playedIn = async (ledger: BenchLedger, folder: string): Promise<number> => {
  const place = ledger.fresh()
  const app = await createTrihand({
    system: await load(),
    folder: EXAMPLE,
    database: place.database,
    ...(place.schema === null ? {} : { schema: place.schema }),
    drain: 0,
    agents: { workspaces: join(folder, 'workspaces') },
  })
  const value = await play(app)
  await app.close()
  await place.remove()
  return value
}
