/**
 * Which test belongs to which project: unit needs nothing, acceptance a whole system (in part once more on Restate), integration a throwaway Postgres,
 * browser a Chromium, chaos real processes, two disasters at a time as in scripts/chaos.mjs.
 */
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/project/longest-first.ts'
import { StageReporter } from './test/support/project/stage-reporter.ts'

const POSTGRES_TESTS = 'src/adapters/storage/postgres/**/*.test.ts'
/** The command as it is published, which test/support/serving/command-here.ts calls, is loaded by node as it is. */
const AS_PUBLISHED = { deps: { external: [/\/dist\//] } }
/**
 * What a dispatcher can break: runs that wait, are due, are called or are cut off. The other files of acceptance ask about rules that no
 * dispatcher takes part in; `.ci/run` plays all of them on Restate (TRIHAND_RESTATE=all).
 */
const WOKEN = [
  ...[
    'after',
    'agents',
    'agents-people',
    'cancel-on',
    'chat',
    'children',
    'circuit',
    'concurrency',
    'crowds',
    'deploys',
  ],
  ...[
    'uncertain',
    'effects',
    'escalation',
    'events',
    'fan-in',
    'fan-out',
    'flow',
    'gated-children',
    'human-time',
    'humans',
  ],
  ...[
    'pause',
    'plans',
    'queues',
    'retry-anew',
    'retry-family',
    'retry-gate',
    'schedules',
    'throttle-starts',
    'trigger-flow',
  ],
  ...['waits', 'waits-by-value', 'waits-once'],
]
const onRestate = process.env['TRIHAND_RESTATE'] === 'all' ? ['**/*'] : WOKEN
/** Set by scripts/test.mjs: where to write the counts. */
const report = process.env['TRIHAND_REPORT']

export default defineConfig({
  test: {
    // All cores: without it one stays idle, and there are two.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
    reporters: report === undefined ? ['default'] : ['default', new StageReporter(report)],
    projects: [
      {
        test: {
          name: 'unit',
          setupFiles: ['test/support/property-seed.ts'],
          isolate: false,
          testTimeout: 60_000,
          include: ['src/**/*.test.ts', 'ui/**/*.test.ts'],
          exclude: [POSTGRES_TESTS],
        },
      },
      {
        test: {
          name: 'acceptance',
          // Every test makes its own system: what the files share is loaded once, which is a third of the work.
          isolate: false,
          setupFiles: ['test/support/property-seed.ts'],
          include: ['test/acceptance/**/*.test.ts'],
          globalSetup: ['test/support/stores/postgres-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'restate',
          isolate: false,
          include: onRestate.map((name) => `test/acceptance/**/${name}.test.ts`),
          // Functions alone: long runs that never wait, which no dispatcher sees.
          exclude: ['test/acceptance/runs/functions.test.ts'],
          env: {
            TRIHAND_TEST_DISPATCHER: 'restate',
            TRIHAND_TEST_STORES: process.env['TRIHAND_TEST_STORES'] ?? 'postgres',
          },
          globalSetup: ['test/support/stores/postgres-setup.ts', 'test/support/serving/restate-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'integration',
          server: AS_PUBLISHED,
          setupFiles: ['test/support/property-seed.ts'],
          include: ['test/integration/**/*.test.ts', POSTGRES_TESTS],
          globalSetup: ['test/support/stores/postgres-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'browser',
          server: AS_PUBLISHED,
          include: ['test/browser/**/*.test.ts'],
          // Every file has a browser and a server of its own: what the files load is loaded once.
          isolate: false,
          globalSetup: ['test/support/serving/browser-setup.ts'],
          testTimeout: 90_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'chaos',
          include: ['test/chaos/**/*.test.ts'],
          globalSetup: ['test/support/stores/postgres-setup.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
