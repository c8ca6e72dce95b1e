/**
 * The files that an agent's run has produced, found by the run and by their hash.
 *
 * Owns the rule that only a caller who may see a run that names a file gets the file: a hash alone gives no access.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { fetchValue } from '#engine/core/payloads.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import type { LiveRun } from '#model/run/fact.ts'
import { run as runMachine } from '#model/run/run.ts'
import { type SettledStep, stepAddress } from '#model/run/step.ts'

export interface Artifact {
  readonly path: string
  readonly text: string
  readonly encoding: 'utf8' | 'base64'
  /** The model replies behind the file were simulated. */
  readonly isSimulated: boolean
}

/** As the agent's last step records them (executors/agent/agent.ts). */
interface Left {
  readonly path: string
  readonly hash: string
  readonly encoding: 'utf8' | 'base64'
  readonly simulated: boolean
}

const STEP = 'agent/artifacts'

type Deps = Pick<EngineContext, 'ledger' | 'blobs' | 'ids' | 'tenant'>

/** Returns the step that recorded the files of an agent's run, in the last life that got this far. */
export const filesStepOf = ({ settled, retried }: LiveRun): SettledStep | undefined => {
  for (let life = retried?.times ?? 0; life > 0; life--) {
    const found = settled.get(stepAddress(STEP, String(life)))
    if (found !== undefined) return found
  }
  return settled.get(STEP)
}

const leftBy = async (deps: Deps, run: RunId): Promise<readonly Left[]> => {
  const [record] = await deps.ledger.load([run])
  if (record == null || record.tenant !== deps.tenant) return []
  const state = fold(runMachine, record.facts.map(readRunFact))
  const live = state.kind === 'ended' ? state.last : state.kind === 'live' ? state : null
  const settled = live === null ? undefined : filesStepOf(live)
  if (settled?.kind !== 'done') return []
  const { artifacts } = (await fetchValue(deps, settled.result)) as unknown as { readonly artifacts: readonly Left[] }
  return artifacts
}

export const artifactOf = async (deps: Deps, run: RunId, hash: string): Promise<Artifact> => {
  const left = (await leftBy(deps, run)).find((one) => one.hash === hash)
  if (left === undefined) throw new TrihandError('NOT_FOUND', `run ${run} has no file ${hash}`)
  const text = await deps.blobs.get(hash)
  if (text === null) throw new TrihandError('BLOB_MISSING', `the content of ${left.path} is missing`)
  if (deps.ids.digest(text) !== hash)
    throw new TrihandError('STATE_CORRUPT', `the content of ${left.path} does not match its hash`)
  return { path: left.path, text, encoding: left.encoding, isSimulated: left.simulated }
}
