/**
 * A share of a campaign in a process of its own, for stages/sim.ts: plays its schedules or hunts its seeded bugs, says one line.
 *
 * Owns nothing but the translation of its argument into work.
 */
import { type CampaignReport, newSystems, runCampaign } from './campaign.ts'
import { type Hunted, hunt, MUTANTS } from './mutants/hunt.ts'

export interface ChildInput {
  readonly from: number
  readonly schedules: number
  /** Names of seeded bugs to hunt after the schedules. */
  readonly mutants: readonly string[]
  readonly limit: number
}

export interface ChildReport {
  readonly campaign: Omit<CampaignReport, 'failed'> & {
    readonly failed: readonly { readonly seed: number; readonly violations: readonly string[] }[]
  }
  readonly hunted: readonly Hunted[]
}

const work = async ({ from, schedules, mutants, limit }: ChildInput): Promise<ChildReport> => {
  const systems = newSystems()
  const campaign = await runCampaign(from, schedules, { systems })
  const hunted: Hunted[] = []
  for (const mutant of MUTANTS) if (mutants.includes(mutant.name)) hunted.push(await hunt(mutant, systems, limit))
  const failed = campaign.failed.map(({ seed, violations }) => ({ seed, violations }))
  return { campaign: { ...campaign, failed }, hunted }
}

const input = JSON.parse(process.argv[2] ?? '{}') as ChildInput
// Ends with its parent, whatever becomes of that.
process.stdin.on('end', () => process.exit(1)).resume()
console.log(JSON.stringify(await work(input)))
process.exit(0)
