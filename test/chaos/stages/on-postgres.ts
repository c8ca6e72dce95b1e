/** A temporary Postgres for one stage: starts it, always ends it, and reports a skip if none is available. */
import { type Cluster, startPostgres } from '#test/support/stores/postgres.ts'
import { type StageReport, skipped } from './report.ts'

export const onPostgres = async (
  stage: string,
  perform: (cluster: Cluster) => Promise<StageReport>,
): Promise<StageReport> => {
  let cluster: Cluster
  try {
    cluster = await startPostgres()
  } catch (error) {
    return skipped(stage, 'pg', error instanceof Error ? error.message : String(error))
  }
  try {
    return await perform(cluster)
  } finally {
    await cluster.stop()
  }
}
