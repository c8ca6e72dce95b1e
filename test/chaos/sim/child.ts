/**
 * A share of a campaign in a process of its own, for stages/sim.ts: plays its schedules or hunts its seeded bugs, says one line.
 *
 * Owns nothing but the translation of its argument into work.
 */
import { type CampaignReport, newClerkSystems, newPeopleSystems, newSystems, runCampaign } from './campaign.ts'
import { CLERK_MUTANTS } from './mutants/clerks.ts'
import { type Hunted, hunt, MUTANTS } from './mutants/hunt.ts'
import { PEOPLE_MUTANTS } from './mutants/people.ts'

export interface ChildInput {
  readonly from: number
  readonly schedules: number
  /** Schedules of handlers with gates, and of schedules, besides. */
  readonly clerkSchedules: number
  /** Of people with tasks, besides. */
  readonly peopleSchedules: number
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

const work = async (input: ChildInput): Promise<ChildReport> => {
  const { from, schedules, clerkSchedules, peopleSchedules, mutants, limit } = input
  const [systems, clerks, people] = [newSystems(), newClerkSystems(), newPeopleSystems()]
  const campaigns = [
    played(await runCampaign(from, schedules, { systems }), 'npm run sim -- --seed'),
    played(await runCampaign(from, clerkSchedules, { systems: clerks }), 'npm run sim -- --clerks --seed'),
    played(await runCampaign(from, peopleSchedules, { systems: people }), 'npm run sim -- --people --seed'),
  ]
  const hunted: Hunted[] = []
  for (const mutant of MUTANTS) if (mutants.includes(mutant.name)) hunted.push(await hunt(mutant, systems, limit))
  for (const mutant of CLERK_MUTANTS) if (mutants.includes(mutant.name)) hunted.push(await hunt(mutant, clerks, limit))
  for (const mutant of PEOPLE_MUTANTS) if (mutants.includes(mutant.name)) hunted.push(await hunt(mutant, people, limit))
  return { campaigns, hunted }
}

const input = JSON.parse(process.argv[2] ?? '{}') as ChildInput
// Ends with its parent, whatever becomes of that.
process.stdin.on('end', () => process.exit(1)).resume()
console.log(JSON.stringify(await work(input)))
process.exit(0)
