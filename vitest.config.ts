/**
 * The test projects: unit needs nothing, acceptance runs a whole system (some files also on Restate), integration needs a temporary
 * Postgres, browser a Chromium, chaos real processes, two stages at a time like scripts/chaos.mjs.
 */
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/project/longest-first.ts'
import { StageReporter } from './test/support/project/stage-reporter.ts'

const POSTGRES_TESTS = 'src/adapters/storage/postgres/**/*.test.ts'
/** Node loads the published command directly; test/support/serving/command-here.ts calls it. */
const AS_PUBLISHED = { deps: { external: [/\/dist\//] } }
/**
 * Tests that depend on the dispatcher: runs that wait, are due, are called or are interrupted. The other acceptance files test rules
 * without a dispatcher; `.ci/run` runs all of them on Restate (TRIHAND_RESTATE=all).
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
    // Uses all cores: by default one of the two stays idle.
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
          // Every test creates its own system, and files share loaded modules, which saves a third of the work.
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
          // Only functions: long runs that never wait, so no dispatcher takes part.
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
          // Every file has its own browser and server, and files share loaded modules.
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
