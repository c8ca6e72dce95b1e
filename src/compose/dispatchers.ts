/**
 * Turns the dispatcher that a configuration names into the value that code would pass.
 *
 * Owns which adapter a choice means and how its SDK is connected. Each SDK is loaded only when it is chosen.
 */
import type { InngestClient, InngestServe } from '#adapters/dispatch/inngest/sdk.ts'
import { loadPeer } from '#adapters/peer.ts'
import type { DispatcherFactory } from '#ports/dispatcher.ts'
import type { DispatcherChoice } from './config.ts'

type InngestChoice = Extract<DispatcherChoice, { readonly kind: 'inngest' }>

/** The part of the SDK that is used here. */
interface InngestSdk {
  readonly Inngest: new (options: {
    readonly id: string
    readonly baseUrl?: string
    readonly eventKey?: string
  }) => InngestClient
}

/** Imports by a name that the compiler does not follow, because the package need not be installed. */
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

/** A name in the form that both engines accept. */
const nameOf = (system: string): string => {
  const plain = system.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-')
  return /^[a-z]/.test(plain) ? plain.slice(0, 63) : 'trihand'
}

/** `system` tells apart the systems that share an engine. */
export const dispatcherOf =
  (choice: DispatcherChoice, system: string): DispatcherFactory =>
  async (clock) => {
    if (choice.kind === 'inngest') return (await openInngest(choice, system))(clock)
    const { kind: _, ...options } = choice
    const { restate } = await import('#adapters/dispatch/restate/restate.ts')
    return restate({ ...options, name: nameOf(system) })(clock)
  }
