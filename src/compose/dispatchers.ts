/**
 * A dispatcher that the configuration names, as the value that code would hand in.
 *
 * Owns which adapter a choice means and how its SDK is joined. Each is loaded only by who chose it.
 */
import type { InngestClient, InngestServe } from '#adapters/dispatch/inngest/sdk.ts'
import { loadPeer } from '#adapters/peer.ts'
import type { DispatcherFactory } from '#ports/dispatcher.ts'
import type { DispatcherChoice } from './config.ts'

type InngestChoice = Extract<DispatcherChoice, { readonly kind: 'inngest' }>

/** What of the SDK is used here. */
interface InngestSdk {
  readonly Inngest: new (options: {
    readonly id: string
    readonly baseUrl?: string
    readonly eventKey?: string
  }) => InngestClient
}

/** By a name that the compiler does not follow: its package need not be there. */
const load = async <Module>(name: string): Promise<Module> => (await import(name)) as Module

const openInngest = async (
  { signingKey, url, eventKey }: InngestChoice,
  system: string,
): Promise<DispatcherFactory> => {
  const { inngest } = await import('#adapters/dispatch/inngest/inngest.ts')
  const { Inngest } = await loadPeer('inngest', () => load<InngestSdk>('inngest'))
  const { serve } = await load<{ readonly serve: InngestServe<InngestClient> }>('inngest/edge')
  const where = { ...(url !== undefined && { baseUrl: url }), ...(eventKey !== undefined && { eventKey }) }
  return inngest({ client: new Inngest({ id: system, ...where }), serve, signingKey, name: nameOf(system) })
}

/** As both engines take it. */
const nameOf = (system: string): string => {
  const plain = system.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-')
  return /^[a-z]/.test(plain) ? plain.slice(0, 63) : 'trihand'
}

/** `system` tells the systems apart that share an engine. */
export const dispatcherOf =
  (choice: DispatcherChoice, system: string): DispatcherFactory =>
  async (clock) => {
    if (choice.kind === 'inngest') return (await openInngest(choice, system))(clock)
    const { kind: _, ...options } = choice
    const { restate } = await import('#adapters/dispatch/restate/restate.ts')
    return restate({ ...options, name: nameOf(system) })(clock)
  }
