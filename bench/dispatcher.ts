/**
 * Which dispatcher a measured process uses: the store's own, or Restate when the run was asked for it.
 *
 * Owns the name in the environment, which child processes inherit.
 */
import { restate } from '#adapters/dispatch/restate/restate.ts'
import type { TrihandOptions } from '#compose/assemble.ts'

const NAME = 'BENCH_RESTATE'

/** From here on every process that is opened or started is woken by this server. */
export const askForRestate = (server: { readonly ingress: string; readonly admin: string }): void => {
  process.env[NAME] = `${server.ingress} ${server.admin}`
}

export const dispatcherAsked = (): Pick<TrihandOptions, 'dispatcher'> => {
  const [ingress, admin] = process.env[NAME]?.split(' ') ?? []
  return ingress === undefined || admin === undefined ? {} : { dispatcher: restate({ ingress, admin }) }
}
