/**
 * The agent executor, loaded with the first agent: systems without agents do not pay for it.
 *
 * Owns when it is loaded.
 */
import type { ToolBroker } from '#executors/workflow/built-in/tool-call.ts'
import type { System } from '#manifest/define/system.ts'
import type { AgentRuntime, AgentsInput } from './agents.ts'
import { simulatedFor } from './models.ts'

export interface LazyAgents {
  readonly broker: ToolBroker
  readonly enter: AgentRuntime['enter']
  ready(system: System): Promise<void>
  /** For the system that was prepared last: which models are simulated, and why. */
  readonly simulated: string | null
  close(): Promise<void>
}

/** `ready` throws if something that agents need is missing. */
export const lazyAgents = (input: AgentsInput): LazyAgents => {
  let loading: Promise<AgentRuntime> | null = null
  const open = (): Promise<AgentRuntime> => {
    loading ??= import('./agents.ts').then(({ openAgents }) => openAgents(input))
    return loading
  }
  let simulated: string | null = null
  const hasAgents = ({ functions }: System): boolean =>
    [...functions.values()].some(({ modality }) => modality === 'agent')
  return {
    enter: async (entry, handler) => (await open()).enter(entry, handler),
    ready: async (system) => {
      simulated = hasAgents(system) ? (await open()).check(system).simulated : simulatedFor(system, input)
    },
    get simulated() {
      return simulated
    },
    broker: { call: async (request, signal) => (await open()).callTool(request, signal) },
    close: async () => (await loading?.catch(() => null))?.close(),
  }
}
