/**
 * Chooses the dispatcher of a measured process: the store's own, or Restate if the command line asks for it.
 *
 * Owns the name of the environment variable, which child processes inherit.
 */
import { restate } from '#adapters/dispatch/restate/restate.ts'
import type { TrihandOptions } from '#compose/assemble.ts'

const NAME = 'BENCH_RESTATE'

/** From now on this server wakes every process that is opened or started. */
export const askForRestate = (server: { readonly ingress: string; readonly admin: string }): void => {
  process.env[NAME] = `${server.ingress} ${server.admin}`
}

export const dispatcherAsked = (): Pick<TrihandOptions, 'dispatcher'> => {
  const [ingress, admin] = process.env[NAME]?.split(' ') ?? []
  return ingress === undefined || admin === undefined ? {} : { dispatcher: restate({ ingress, admin }) }
}
