/**
 * Vitest's global set-up for tests that need Postgres: starts one cluster per run, and passes its URL in TRIHAND_TEST_PG_URL.
 *
 * A server given by that variable is used as it is. Without any server the tests are skipped with a message; TRIHAND_REQUIRE=pg turns the
 * skip into a failure.
 */
import { type Cluster, startPostgres } from './postgres.ts'

const required = (): boolean => (process.env['TRIHAND_REQUIRE'] ?? '').split(',').includes('pg')

let cluster: Cluster | null = null

export const setup = async (): Promise<void> => {
  if (process.env['TRIHAND_TEST_PG_URL'] !== undefined) return
  try {
    cluster = await startPostgres()
    process.env['TRIHAND_TEST_PG_URL'] = cluster.url
  } catch (error) {
    if (required()) throw error
    console.error(`\nPOSTGRES TESTS SKIPPED: ${error instanceof Error ? error.message : String(error)}\n`)
  }
}

export const teardown = async (): Promise<void> => {
  if (cluster === null) return
  delete process.env['TRIHAND_TEST_PG_URL']
  await cluster.stop()
  cluster = null
}
