/**
 * Vitest's global set-up for tests that need a Restate server: starts one per run, and passes its address in TRIHAND_TEST_RESTATE.
 *
 * The server comes from npm, so its absence is a failure on every platform it is built for.
 */
import { type RestateServer, startRestate } from './restate.ts'

let server: RestateServer | null = null

export const setup = async (): Promise<void> => {
  server = await startRestate()
  process.env['TRIHAND_TEST_RESTATE'] = `${server.ingress} ${server.admin}`
}

export const teardown = async (): Promise<void> => {
  await server?.stop()
  server = null
}

/** The address of this run's server. */
export const restateDoors = (): { readonly ingress: string; readonly admin: string } => {
  const [ingress, admin] = (process.env['TRIHAND_TEST_RESTATE'] ?? '').split(' ')
  if (ingress === undefined || admin === undefined) throw new Error('this test needs the set-up of the project restate')
  return { ingress, admin }
}
