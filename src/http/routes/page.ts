/**
 * `GET /`: gathers the content of the status page and sends it under a policy that allows nothing else to load.
 *
 * Owns which runs and events are shown and which commands are suggested. Never writes: the page has no form.
 */
import type { Context } from 'hono'
import { randomText } from '#http/access/random.ts'
import { text } from '#http/openapi/schema.ts'
import { shortId } from '#http/server/run-id.ts'
import type { Service } from '#http/server/service.ts'
import { countTexts, MOST_COUNTED } from '#http/wire/counts.ts'
import { type PageEvent, type PageModel, type PageRun, renderPage } from '#http/wire/page.ts'
import { waitingOn } from '#http/wire/run-detail.ts'
import { isoTime } from '#http/wire/time.ts'
import type { System } from '#manifest/define/system.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { RunSummary } from '#ports/reader.ts'
import type { Operation } from './route.ts'

const RUNS = 25
const EVENTS = 15
const MAX_DATA_LENGTH = 160
/** Longer histories are not folded for this page; `trihand runs show` folds them. */
const MAX_FACTS = 1_000

const policy = (nonce: string): string =>
  `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

const shortened = (text: string): string =>
  text.length > MAX_DATA_LENGTH ? `${text.slice(0, MAX_DATA_LENGTH)}…` : text

const waitsFor = async (service: Service, run: RunSummary): Promise<readonly string[]> => {
  if (run.version > MAX_FACTS) return []
  const waits = await waitingOn(service, run)
  return waits.map(({ step, text }) => (step === null ? text : `${step}: ${text}`))
}

const pageRun = async (service: Service, run: RunSummary): Promise<PageRun> => ({
  id: run.id,
  shortId: shortId(run.id),
  handler: run.handler,
  status: run.status,
  waitsFor: await waitsFor(service, run),
  createdAt: isoTime(run.createdAt),
})

const pageEvent = (event: StoredEvent): PageEvent => ({
  sequence: event.sequence,
  type: event.type,
  source: event.source,
  time: isoTime(event.time),
  data: shortened(JSON.stringify(event.data)),
})

const commandsFor = (system: System, latest: RunSummary | undefined): readonly string[] => [
  ...[...system.listeners.keys()].slice(0, 1).map((type) => `npx trihand send ${type} '{}'`),
  'npx trihand runs list',
  ...(latest === undefined ? [] : [`npx trihand runs show ${shortId(latest.id)}`]),
  'npx trihand verify',
]

const gather = async (service: Service, nonce: string): Promise<PageModel> => {
  const { reader, tenant, system, ledger } = service
  const [runs, events, counts] = await Promise.all([
    reader.runs({ tenant, status: null, handler: null, before: null, limit: RUNS }),
    reader.events({ tenant, type: null, before: null, limit: EVENTS }),
    reader.newestCounts(tenant, MOST_COUNTED),
  ])
  return {
    nonce,
    system: system.name,
    ledger: `${ledger.description}${ledger.durable ? '' : ', not durable'}`,
    counts: countTexts(counts),
    runs: await Promise.all(runs.map((run) => pageRun(service, run))),
    events: events.map(pageEvent),
    commands: commandsFor(system, runs[0]),
  }
}

const show = async (service: Service, context: Context): Promise<Response> => {
  const nonce = randomText()
  const page = await gather(service, nonce)
  return context.html(renderPage(page), 200, { 'content-security-policy': policy(nonce) })
}

export const pageRoutes: readonly Operation[] = [
  {
    id: 'getPage',
    method: 'get',
    path: '/',
    access: 'viewer',
    summary: 'What runs and what came in, as a page',
    answers: { 200: { media: 'text/html', schema: text } },
    handle: show,
  },
]
