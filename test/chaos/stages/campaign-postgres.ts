/**
 * Kill -9 on the campaign whose ledger is on Postgres: the runs of a dead process are taken over when its lease has ended, and the same
 * promises hold as on a file (stages/campaign.ts).
 */
import pg from 'pg'
import { POSTGRES } from '#test/chaos/campaign/judge.ts'
import { killSeries } from '#test/chaos/campaign/scene.ts'
import { postgresVersion } from '#test/chaos/census.ts'
import { buildCommand } from '#test/support/serving/command.ts'
import type { Cluster } from '#test/support/stores/postgres.ts'
import { onPostgres } from './on-postgres.ts'
import type { StageReport } from './report.ts'

const NAME = 'campaign postgres'

const perform = async (cluster: Cluster, kills: number, seed: number): Promise<StageReport> => {
  buildCommand()
  const { url } = cluster
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  const ground = { target: { url }, query: async (sql: string) => (await pool.query(sql)).rows, dialect: POSTGRES }
  try {
    const findings = await killSeries({ kills, seed, database: url }, () => ground)
    findings.version('postgres', await postgresVersion(url))
    return findings.report(NAME, ['kill', 'kill at a read', 'decision after a restart'])
  } finally {
    await pool.end()
  }
}

export const runCampaignPostgres = ({ kills, seed }: { readonly kills: number; readonly seed: number }) =>
  onPostgres(NAME, (cluster) => perform(cluster, kills, seed))
