/**
 * A client that sends keyed requests to a server that is killed in the middle of them, and repeats each to the next process until it is
 * answered. Checks the answers and what the ledger contains at the end.
 */
import { Program } from '#test/support/program.ts'
import type { Random } from '#test/support/random.ts'
import { pause, until } from '#test/support/until.ts'
import type { ServerInput } from './child.ts'

interface Keyed {
  readonly key: string
  readonly door: keyof typeof DOORS
  readonly n: number
}

interface Answered {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: documents of five routes
  readonly body: any
}

export interface Tally {
  readonly sent: number
  /** Requests whose server died before it answered. */
  readonly cut: number
  /** Answers that are not a success, answers that differ from the first, and things that exist twice or not at all. */
  readonly faults: readonly string[]
}

const BATCH = 'application/cloudevents-batch+json'
const PER_BATCH = 3
const anEvent = (n: number, place: number) => ({
  ...{ specversion: '1.0', type: 'order.placed', source: '/till', id: `${n}.${place}` },
  data: { n },
})

const DOORS = {
  start: { path: '/api/runs', body: (n: number): unknown => ({ name: 'ship', input: { n } }) },
  gate: { path: '/api/runs', body: (n: number): unknown => ({ name: 'gated', input: { n } }) },
  event: { path: '/api/events', body: (n: number): unknown => ({ type: 'order.placed', data: { n } }) },
  batch: {
    path: '/api/events',
    body: (n: number): unknown => Array.from({ length: PER_BATCH }, (_, place) => anEvent(n, place)),
  },
  message: { path: '/api/queues/box', body: (n: number): unknown => ({ data: { n } }) },
} as const
const NAMES = Object.keys(DOORS) as readonly (keyof typeof DOORS)[]

/** What an answer reports as created. */
const madeBy = ({ body }: Answered): string =>
  JSON.stringify(
    body.items?.map(({ receipt }: { receipt: { id: string; sequence: number } }) => [receipt.id, receipt.sequence]) ?? [
      ...[body.id, body.sequence, body.runs],
    ],
  )

const post = async (url: string, { key, door, n }: Keyed): Promise<Answered> => {
  const { path, body } = DOORS[door]
  const headers = { 'content-type': door === 'batch' ? BATCH : 'application/json', 'idempotency-key': key }
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body(n)) })
  return { status: response.status, body: await response.json() }
}

const begin = async (input: ServerInput): Promise<{ readonly server: Program; readonly url: string }> => {
  const server = new Program({ source: 'test/chaos/keyed/child.ts', input })
  return { server, url: (JSON.parse(await server.answer()) as { url: string }).url }
}

const isWaiting = ({ status, body }: Answered): boolean => status === 409 && body.code === 'REQUEST_IN_PROGRESS'

/** Repeats a request until it is answered, also after a connection that broke, as a client with keys may. */
const repeatUntilAnswered = async (url: string, one: Keyed): Promise<Answered> => {
  const answer = await until(
    () => post(url, one).catch(() => null),
    (found) => found !== null && !isWaiting(found),
    { what: `${one.key} is answered` },
  )
  return answer as Answered
}

// biome-ignore lint/suspicious/noExplicitAny: documents of two routes
const get = async (url: string): Promise<any> => (await fetch(url)).json()

/** Every run of a handler. */
const countRuns = async (url: string, handler: string): Promise<number> => {
  let count = 0
  for (let cursor = ''; ; ) {
    const page = await get(`${url}/api/runs?handler=${handler}&limit=200${cursor}`)
    count += page.items.length
    if (page.next_cursor === null) return count
    cursor = `&cursor=${page.next_cursor}`
  }
}

export const killAndRepeat = async (
  input: ServerInput,
  { lives, perLife, random }: { readonly lives: number; readonly perLife: number; readonly random: Random },
): Promise<Tally> => {
  const faults: string[] = []
  const sent: Keyed[] = []
  let cut = 0
  /** How long a server may take until all are answered: the first one answers all, the others die meanwhile. */
  let fullLifeMs = 0
  for (let life = 0; life < lives; life++) {
    const asked = Array.from({ length: perLife }, (_, at): Keyed => {
      const n = life * perLife + at
      return { key: `key ${n}`, door: random.pick(NAMES), n }
    })
    sent.push(...asked)
    const first = await begin(input)
    const answers = asked.map((one) => post(first.url, one).catch(() => null))
    const sentAt = performance.now()
    if (life === 0) {
      await Promise.all(answers)
      fullLifeMs = performance.now() - sentAt
    } else await pause(random.below(Math.ceil(fullLifeMs)))
    await first.server.kill()
    const before = await Promise.all(answers)
    const next = await begin(input)
    for (const [at, one] of asked.entries()) {
      const earlier = before[at] ?? null
      const again = await repeatUntilAnswered(next.url, one)
      if (again.status >= 300) faults.push(`${one.door} ${one.key}: ${again.status} ${JSON.stringify(again.body)}`)
      if (earlier === null) cut += 1
      else if (madeBy(earlier) !== madeBy(again))
        faults.push(`${one.door} ${one.key}: ${madeBy(earlier)}, ${madeBy(again)}`)
      const repeated = await repeatUntilAnswered(next.url, one)
      if (madeBy(repeated) !== madeBy(again)) faults.push(`${one.door} ${one.key}: another answer to a repeat`)
    }
    await next.server.kill()
  }
  const last = await begin(input)
  const of = (door: keyof typeof DOORS): number => sent.filter((one) => one.door === door).length
  const queue = await get(`${last.url}/api/queues/box`)
  const counted = {
    start: await countRuns(last.url, 'ship'),
    gate: await countRuns(last.url, 'gated'),
    event: await countRuns(last.url, 'hear'),
    message: queue.length,
  }
  await last.server.kill()
  const wanted = {
    start: of('start'),
    gate: of('gate'),
    event: of('event') + PER_BATCH * of('batch'),
    message: of('message'),
  }
  for (const [what, count] of Object.entries(counted))
    if (count !== wanted[what as keyof typeof wanted])
      faults.push(`${what}: ${count} were made of ${wanted[what as keyof typeof wanted]}`)
  return { sent: sent.length, cut, faults }
}
