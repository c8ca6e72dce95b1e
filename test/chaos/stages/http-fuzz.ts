/**
 * HTTP fuzz: random requests based on /openapi.json. Documented answers only, no 5xx, no hang, and GET changes nothing.
 *
 * Owns the rounds: a fresh world each, requests of all methods, then only GET between two snapshots of a ledger at rest. The control is
 * a server that leaves a member out of each answer.
 */
import { type FuzzRequest, Requests } from '#test/chaos/http-fuzz/requests.ts'
import { openWorld, type World } from '#test/chaos/http-fuzz/world.ts'
import { Described } from '#test/support/described.ts'
import { Random } from '#test/support/random.ts'
import { within } from '#test/support/within.ts'
import { type Control, Findings, type StageReport } from './report.ts'

export interface HttpFuzzOptions {
  readonly requests: number
  readonly seed: number
}

const NAME = 'http fuzz'
const ROUND = 5_000
/** The GET requests of a round. */
const GETS = 0.25
/** New ids and names are looked up now and then. */
const LOOK_EVERY = 200
const HANG_MS = 60_000
const CONTROL_REQUESTS = 200

type Lie = (text: string) => string
const HONEST: Lie = (text) => text

const sentenceOf = ({ id, method, path, body }: FuzzRequest, words: string): string =>
  `${id}: ${method} ${path.slice(0, 200)} ${(body ?? '').slice(0, 200)}: ${words}`

/** The answer, or what is wrong with it. A stream is closed as soon as it has begun. */
const faultOf = async (world: World, described: Described, request: FuzzRequest, lie: Lie): Promise<string | null> => {
  const { method, path, headers, body } = request
  const asked = world.app.request(path, { method, headers, ...(body === undefined ? {} : { body }) })
  const response = await within(asked, HANG_MS, `${method} ${path}`)
  const { status } = response
  const type = response.headers.get('content-type') ?? ''
  if (status >= 500) return `${status}: ${world.bugs.at(-1) ?? (await response.text())}`
  if (type.startsWith('text/event-stream')) {
    await response.body?.cancel()
    return status === 200 ? null : `a stream with ${status}`
  }
  const text = lie(await response.text())
  // A form with wrong input is shown again; every other refusal is a problem document.
  if (status >= 400 && !/^(application\/problem\+json|text\/html)/.test(type)) return `${status} as ${type}`
  return described.fault({ method, path, sent: undefined, status, type, text })
}

interface Round {
  readonly world: World
  readonly described: Described
  readonly random: Random
  readonly findings: Findings
  readonly lie: Lie
}

const ask = async (round: Round, count: number, onlyGet: boolean): Promise<void> => {
  const { world, described, random, findings, lie } = round
  const document = await world.document()
  let requests = new Requests(document, await world.pool(), random)
  for (let i = 1; i <= count; i++) {
    // As a socket would: without it a thousand answers in a row starve the timers, and health reports that the loop is blocked.
    await new Promise<void>((resolve) => setImmediate(resolve))
    const request = requests.next(onlyGet)
    const fault = await faultOf(world, described, request, lie).catch(String)
    findings.operations += 1
    findings.checks += 1
    findings.fault(request.method)
    if (fault !== null) findings.violation(sentenceOf(request, fault))
    if (i % LOOK_EVERY === 0) requests = new Requests(document, await world.pool(), random)
  }
}

let compiled: Described | null = null

/** The same in every world; compiling it takes as long as a thousand requests. */
const describedBy = async (world: World): Promise<Described> => {
  compiled ??= new Described(await world.document())
  return compiled
}

const play = async (count: number, random: Random, findings: Findings, lie: Lie): Promise<void> => {
  const world = await openWorld()
  try {
    const described = await describedBy(world)
    const round = { world, described, random, findings, lie }
    const gets = Math.ceil(count * GETS)
    await ask(round, count - gets, false)
    const before = await world.atRest()
    await ask(round, gets, true)
    findings.checks += 1
    if ((await world.atRest()) !== before) findings.violation('GET has changed the ledger')
  } finally {
    await world.close()
  }
}

/** One member less: every reader of the document would miss it. */
const withoutFirstMember: Lie = (text) => {
  try {
    const value: unknown = JSON.parse(text)
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return text
    return JSON.stringify(Object.fromEntries(Object.entries(value).slice(1)))
  } catch {
    return text
  }
}

const control = async (seed: number): Promise<Control> => {
  const findings = new Findings()
  await play(CONTROL_REQUESTS, new Random(seed), findings, withoutFirstMember)
  return { name: 'http-fuzz-liar', must: 'lose', lost_in: findings.violations, of: CONTROL_REQUESTS }
}

export const runHttpFuzz = async ({ requests, seed }: HttpFuzzOptions): Promise<StageReport> => {
  const findings = new Findings()
  const random = new Random(seed)
  for (let left = requests; left > 0; left -= ROUND) await play(Math.min(left, ROUND), random, findings, HONEST)
  return findings.report(NAME, ['GET', 'POST', 'PATCH'], [await control(seed)])
}
