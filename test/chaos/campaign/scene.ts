/**
 * The campaign and what outlives its processes: model provider, mail service, people; and the series of processes that are started and killed.
 *
 * Owns the folder of a series of kills, and when a process dies. What is counted and for how long is up to the stage.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifyLedger } from '#cli/verify/verify.ts'
import type { Query } from '#test/chaos/query.ts'
import { Findings } from '#test/chaos/stages/report.ts'
import { PROJECT } from '#test/support/places.ts'
import { Random } from '#test/support/random.ts'
import { Folder, type Server } from '#test/support/serving/command.ts'
import { pause, until } from '#test/support/until.ts'
import { leadsTable, newLead } from './choices.ts'
import { type Dialect, judgeCampaign } from './judge.ts'
import { MailService, SINK } from './mail-service.ts'
import { type Moment, Moments } from './moments.ts'
import { People } from './people.ts'
import { openProvider, type Provider } from './provider.ts'

const IMPORTED = 2
/** A lost call counts with all that was reserved for it (agent-2): ten deaths in a row would use up an agent's usual budget. */
const RICH = '    limits: { max_tokens: 10000000 }\n'
/** How long to wait for a moment. */
const MAX_LIFE_MS = 2_500
const MAX_DELAY_MS = 15
const MAX_START_MS = 500
/** The share of kills that come before the process serves. */
const EARLY = 0.08
/** On a machine that is busy with other work. */
const START_MS = 60_000
const QUIET_MS = 120_000

export interface Scene {
  readonly folder: Folder
  readonly random: Random
  readonly moments: Moments
  readonly mails: MailService
  readonly provider: Provider
  readonly people: People
  readonly acks: string
  readonly findings: Findings
  launch(): Server
}

/** The example itself, with a mail service that can be asked what it has sent. */
const setUp = (folder: Folder, isCareless: boolean): string => {
  const example = join(folder.path, 'campaign')
  cpSync(join(PROJECT, 'examples/campaign'), example, { recursive: true })
  writeFileSync(join(example, 'mail-sink.ts'), SINK)
  const manifest = join(example, 'manifest.yaml')
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replaceAll(/^ {4}contract:/gm, `${RICH}    contract:`))
  if (!isCareless) return example
  const sender = join(example, 'functions/send-campaign.ts')
  const text = readFileSync(sender, 'utf8')
  const careless = text.replace("effect: 'once'", "effect: 'idempotent'")
  if (careless === text) throw new Error('the example has no promise that could be broken')
  writeFileSync(sender, careless)
  return example
}

export const withScene = async <Result>(
  options: { readonly seed: number; readonly isCareless?: boolean; readonly database?: string },
  work: (scene: Scene) => Promise<Result>,
): Promise<Result> => {
  const folder = new Folder()
  const random = new Random(options.seed)
  const moments = new Moments()
  const example = setUp(folder, options.isCareless ?? false)
  const leads = Array.from({ length: IMPORTED }, (_, i) => newLead(i + 1, random))
  writeFileSync(join(example, 'leads.csv'), leadsTable(leads))
  const mails = new MailService(random.fork(), moments)
  const provider = await openProvider(example, random.fork(), moments)
  const acks = join(folder.path, 'acks.jsonl')
  const env = {
    ...{ ANTHROPIC_API_KEY: 'stub', ANTHROPIC_BASE_URL: provider.url, MAIL_SERVICE: await mails.open() },
    ...{ CAMPAIGN_PAUSE: '15ms', TRIHAND_DATA: join(folder.path, 'data') },
    ...(options.database === undefined ? {} : { DATABASE_URL: options.database }),
  }
  const people = new People(
    { acks, random: random.fork(), moments, mails, isAgreeable: options.isCareless ?? false },
    leads,
  )
  const launch = (): Server => {
    moments.life += 1
    return folder.launch(['dev', example, '--port', '0'], { env })
  }
  try {
    return await work({ folder, random, moments, mails, provider, people, acks, findings: new Findings(), launch })
  } finally {
    await people.close()
    await provider.close()
    await mails.close()
    await folder.remove()
  }
}

const MOMENTS: readonly (Moment | 'any')[] = ['any', 'call', 'call', 'mail', 'mail', 'decision']
/** The moments of the first kills, which must be met: a person has read but not answered; a person answers. */
const OPENING: readonly Moment[] = ['read', 'decision']

/** Settles at a moment of this kind, or when none came within the limit; returns which of the two it was. */
const awaitMoment = async ({ random, moments }: Scene, wanted: Moment, limitMs: number): Promise<string> => {
  const isHere = await moments.next(wanted, limitMs)
  await pause(random.below(MAX_DELAY_MS))
  return isHere ? `kill at a ${wanted}` : 'kill at any moment'
}

const chooseMoment = async (scene: Scene, opening: Moment | undefined): Promise<string> => {
  if (opening !== undefined) return awaitMoment(scene, opening, QUIET_MS)
  const wanted = scene.random.pick(MOMENTS)
  if (wanted !== 'any') return awaitMoment(scene, wanted, MAX_LIFE_MS)
  await pause(scene.random.below(MAX_LIFE_MS))
  return 'kill at any moment'
}

const die = async ({ findings, people }: Scene, server: Server, moment: string): Promise<void> => {
  people.part()
  await server.kill()
  const { signal, stderr } = await server.ended
  if (signal !== 'SIGKILL') findings.violation(`the process ended by itself: ${stderr.slice(-500)}`)
  findings.fault('kill')
  findings.fault(moment)
}

/** From the start of a process to its death. */
const liveAndDie = async (scene: Scene, opening: Moment | undefined): Promise<void> => {
  const { random, people } = scene
  const server = scene.launch()
  if (opening === undefined && random.chance(EARLY)) {
    await pause(random.below(MAX_START_MS))
    return die(scene, server, 'kill at its start')
  }
  await server.listening(START_MS)
  people.meet(server.url)
  await die(scene, server, await chooseMoment(scene, opening))
}

/** Kills after a mail is accepted and before it is acknowledged: only the mail service knows that it was sent. */
export const dieInMail = async (scene: Scene): Promise<void> => {
  const { mails, moments, people } = scene
  mails.isSilent = true
  const server = scene.launch()
  await server.listening(START_MS)
  people.meet(server.url, true)
  await moments.next('mail', QUIET_MS)
  await die(scene, server, 'kill at a mail')
  mails.isSilent = false
}

/** The last life: every request is acknowledged, and after a while no work is left. */
export const bringToRest = async (scene: Scene): Promise<void> => {
  const { people, findings } = scene
  const server = scene.launch()
  await server.listening(START_MS)
  people.meet(server.url, true)
  const quiet = until(
    () => people.isQuiet,
    (isQuiet) => isQuiet,
    { timeoutMs: QUIET_MS, everyMs: 50 },
  )
  await quiet.catch(() => findings.violation(`V30 not quiet ${QUIET_MS} ms after the last kill`))
  people.part()
  const { code, stderr } = await server.stop()
  if (code !== 0) findings.violation(`the process closed with ${code}: ${stderr.slice(-500)}`)
}

export interface Ground {
  readonly target: Parameters<typeof verifyLedger>[0]
  readonly query: Query
  readonly dialect: Dialect
}

const judge = async (scene: Scene, { target, query, dialect }: Ground): Promise<void> => {
  const { people, provider, mails, findings, acks } = scene
  const evidence = { people, mails: mails.mails, calls: provider.calls }
  for (const sentence of await judgeCampaign(evidence, query, dialect)) findings.violation(sentence)
  const report = await verifyLedger(target, { evidence: { acks } })
  for (const { id, stream, seq, sentence } of report.violations)
    findings.violation(`${id} ${stream ?? '-'}/${seq ?? '-'} ${sentence}`)
  findings.checks += Object.values(report.checked).reduce((sum, times) => sum + times, 0)
  findings.operations += people.acknowledged + provider.calls.length + mails.mails.length
  count(scene)
}

/** Checks that the kills met all that they must: a stage in which no step was uncertain would prove nothing. */
const count = ({ people, provider, mails, findings }: Scene): void => {
  const said = [...people.said.values()]
  const late = said.filter(({ readIn, heardIn }) => heardIn !== null && heardIn > readIn).length
  const repeated = provider.calls.length - new Set(provider.calls.map(({ key }) => key)).size
  findings.fault('mail in doubt', people.doubts)
  findings.fault('decision after a restart', late)
  findings.fault('call that was lost', repeated)
  findings.note(
    `${people.leads.size} leads, ${provider.calls.length} model calls (${repeated} of them again, because the process died before the answer was in the ledger), ` +
      `${mails.mails.length} mails, ${said.length} decisions, ${late} of them after a restart`,
  )
}

export interface SeriesOptions {
  readonly kills: number
  readonly seed: number
  /** Absent: a file in the scene's folder. */
  readonly database?: string
}

/** `where`: the ledger, given the scene's folder. */
export const killSeries = (options: SeriesOptions, where: (folder: string) => Ground): Promise<Findings> =>
  withScene(options, async (scene) => {
    for (let killed = 0; killed < options.kills; killed++) await liveAndDie(scene, OPENING[killed])
    await bringToRest(scene)
    await judge(scene, where(scene.folder.path))
    return scene.findings
  })
