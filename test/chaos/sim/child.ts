/**
 * A part of a campaign in a process of its own, for stages/sim.ts: runs its schedules or hunts its seeded bugs, prints one line.
 *
 * Owns only the translation of its argument into work.
 */
import { type Hunted, hunt } from '#test/chaos/sim/mutants/hunt.ts'
import { BILL_NAMES, BILLS, type BillName } from './bills.ts'
import { type CampaignReport, runCampaign } from './campaign.ts'

export interface ChildInput {
  readonly from: number
  readonly schedules: { readonly [Name in BillName]: number }
  /** Names of seeded bugs to hunt after the schedules. */
  readonly mutants: readonly string[]
  readonly limit: number
}

export interface Played extends Omit<CampaignReport, 'failed'> {
  /** How a failed seed is repeated. */
  readonly command: string
  readonly failed: readonly { readonly seed: number; readonly violations: readonly string[] }[]
}

export interface ChildReport {
  readonly campaigns: readonly Played[]
  readonly hunted: readonly Hunted[]
}

const played = (campaign: CampaignReport, command: string): Played => ({
  ...campaign,
  command,
  failed: campaign.failed.map(({ seed, violations }) => ({ seed, violations })),
})

const work = async ({ from, schedules, mutants, limit }: ChildInput): Promise<ChildReport> => {
  const bills = BILL_NAMES.map((name) => ({ ...BILLS[name], count: schedules[name], played: BILLS[name].systems() }))
  const campaigns: Played[] = []
  for (const { flag, count, played: systems } of bills)
    campaigns.push(played(await runCampaign(from, count, { systems }), `npm run sim --${flag} --seed`))
  const hunted: Hunted[] = []
  for (const { mutants: seeded, played: systems } of bills)
    for (const mutant of seeded) if (mutants.includes(mutant.name)) hunted.push(await hunt(mutant, systems, limit))
  return { campaigns, hunted }
}

const input = JSON.parse(process.argv[2] ?? '{}') as ChildInput
// Ends with its parent, however that ends.
process.stdin.on('end', () => process.exit(1)).resume()
console.log(JSON.stringify(await work(input)))
process.exit(0)
