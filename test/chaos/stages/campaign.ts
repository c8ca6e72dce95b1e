/**
 * Kill -9 on `trihand dev examples/campaign`, as it is published, at random moments: while it starts, thinks, sends, is answered. No model
 * call whose answer is in the ledger is paid again, no mail is sent twice, no decision is lost, and one given after a restart acts once.
 *
 * The control sends its mails without effect `once`, and must send some twice.
 */
import { join } from 'node:path'
import { doubledMails, SQLITE } from '#test/chaos/campaign/judge.ts'
import { bringToRest, dieInMail, type Ground, killSeries, withScene } from '#test/chaos/campaign/scene.ts'
import { sqliteVersion } from '#test/chaos/census.ts'
import { queryFile } from '#test/chaos/query.ts'
import { buildCommand } from '#test/support/serving/command.ts'
import type { Control, StageReport } from './report.ts'

export interface CampaignOptions {
  readonly kills: number
  readonly controlKills: number
  readonly seed: number
}

const NAME = 'campaign'

const onFile = (folder: string): Ground => {
  const file = join(folder, 'data/trihand.db')
  return { target: { file }, query: queryFile(file), dialect: SQLITE }
}

/** Killed when a mail was sent without an acknowledgement: the promise that the control breaks is about those. */
const control = (kills: number, seed: number): Promise<Control> =>
  withScene({ seed, isCareless: true }, async (scene) => {
    for (let killed = 0; killed < kills; killed++) await dieInMail(scene)
    await bringToRest(scene)
    const { mails } = scene.mails
    return { name: 'campaign-mail-not-once', must: 'lose', lost_in: doubledMails(mails).length, of: mails.length }
  })

const CERTAIN = ['kill', 'kill at a read', 'kill at a decision', 'decision after a restart']
const LIKELY = ['kill at its start', 'kill at a call', 'kill at a mail', 'mail in doubt', 'call that was lost']
/** From this number of kills on, the likely moments must have happened too. */
const MANY = 100

export const runCampaign = async ({ kills, controlKills, seed }: CampaignOptions): Promise<StageReport> => {
  buildCommand()
  const findings = await killSeries({ kills, seed }, onFile)
  findings.version('sqlite', sqliteVersion())
  const declared = kills < MANY ? CERTAIN : [...CERTAIN, ...LIKELY]
  return findings.report(NAME, declared, [await control(controlKills, seed)])
}
