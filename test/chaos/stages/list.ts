/**
 * Every stage of `npm run test:chaos`, with its size. One array: a new stage is one entry.
 *
 * Owns the large numbers (the small ones are in the tests beside this folder). `minutes` only orders the lanes, longest first.
 */
import { runCampaign } from './campaign.ts'
import { runCampaignPostgres } from './campaign-postgres.ts'
import { runCrashSweep } from './crash-sweep.ts'
import { runEscapes } from './escapes.ts'
import { runFrozen } from './frozen.ts'
import { runFuzz } from './fuzz.ts'
import { runHttpFuzz } from './http-fuzz.ts'
import { runKill } from './kill.ts'
import { runKillPostgres } from './kill-postgres.ts'
import { runMany } from './many.ts'
import { runMixedFleet } from './mixed-fleet.ts'
import { runPgChaos } from './pg-chaos.ts'
import { runPolicies } from './policies.ts'
import { runPowerCut } from './power-cut.ts'
import type { StageOptions, StageReport } from './report.ts'
import { runRestate } from './restate.ts'
import { runSim } from './sim.ts'
import { runStorage } from './storage.ts'
import { runWorkers } from './workers.ts'

export interface Stage {
  readonly name: string
  readonly minutes: number
  run(options: StageOptions): Promise<StageReport>
}

export const STAGES: readonly Stage[] = [
  {
    name: 'kill',
    minutes: 10,
    run: ({ scale, seed }) => runKill({ kills: 1_000 * scale, controlKills: 20, seed }),
  },
  {
    name: 'kill postgres',
    minutes: 12,
    run: ({ scale, seed }) =>
      runKillPostgres({ kills: 300 * scale, stops: 50 * scale, timedKills: Math.ceil(10 * scale), seed }),
  },
  {
    name: 'workers',
    minutes: 4,
    run: ({ scale, seed }) =>
      runWorkers({ seconds: 120 * scale, killEveryMs: 3_000, stops: Math.ceil(2 * scale), seed }),
  },
  {
    name: 'mixed fleet',
    minutes: 3,
    run: ({ scale }) => runMixedFleet({ runs: 2_000 * scale, rounds: 10, controlRuns: 80, controlRounds: 2 }),
  },
  {
    name: 'frozen workers',
    minutes: 3,
    run: ({ scale }) => runFrozen({ rounds: 200 * scale, controlRounds: 6 }),
  },
  {
    name: 'power cut',
    minutes: 3,
    run: ({ scale, seed }) => runPowerCut({ images: 2_000 * scale, controlImages: 300, seed }),
  },
  {
    name: 'pg chaos',
    minutes: 4,
    run: ({ scale, seed }) =>
      runPgChaos({ unknowns: 1_000 * scale, restarts: 60 * scale, blackHoles: 12, sieges: 3, seed }),
  },
  {
    name: 'crash sweep',
    minutes: 9,
    run: () => runCrashSweep({ scenarios: 100, onFile: 100, pairsUpTo: 70 }),
  },
  {
    name: 'sim',
    minutes: 15,
    run: ({ scale, seed }) =>
      runSim({
        schedules: { plain: 84_000 * scale, coordinators: 8_000 * scale, people: 4_000 * scale, lives: 4_000 * scale },
        limit: 5_000,
        processes: 2,
        seed,
      }),
  },
  {
    name: 'many',
    minutes: 3,
    run: () => runMany(),
  },
  {
    name: 'escapes',
    minutes: 1,
    run: () => runEscapes(),
  },
  {
    name: 'policies',
    minutes: 5,
    run: ({ scale, seed }) => runPolicies({ cases: Math.ceil(10_000 * scale), seed }),
  },
  {
    name: 'campaign',
    minutes: 8,
    run: ({ scale, seed }) => runCampaign({ kills: 200 * scale, controlKills: 5, seed }),
  },
  {
    name: 'campaign postgres',
    minutes: 2,
    run: ({ scale, seed }) => runCampaignPostgres({ kills: 20 * scale, seed }),
  },
  {
    name: 'fuzz',
    minutes: 5,
    run: ({ scale, seed }) =>
      runFuzz({ manifests: 50_000 * scale, expressions: 1_000_000 * scale, processes: 2, seed }),
  },
  {
    name: 'http fuzz',
    minutes: 3,
    run: ({ scale, seed }) => runHttpFuzz({ requests: 100_000 * scale, seed }),
  },
  {
    name: 'restate',
    minutes: 6,
    run: ({ scale, seed }) => runRestate({ rounds: 40 * scale, stops: 10 * scale, seed }),
  },
  {
    name: 'storage',
    minutes: 3,
    run: ({ scale, seed }) => runStorage({ cycles: Math.max(3, 50 * scale), images: 100, seed }),
  },
]
