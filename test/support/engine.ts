/**
 * The real engine on a test's ledger, with virtual time: the basis of every engine test.
 *
 * Owns the assembly. The test chooses the ledger, the functions and the faults.
 */
import { MemoryBlobs } from '#adapters/storage/memory/blobs.ts'
import { InProcessDispatcher } from '#adapters/system/dispatcher.ts'
import { SystemIds } from '#adapters/system/ids.ts'
import { Engine } from '#engine/core/engine.ts'
import type { EngineDeps } from '#engine/core/engine-deps.ts'
import { inlineExecutor } from '#engine/core/inline.ts'
import type { WorkerOptions } from '#engine/worker/worker-options.ts'
import { enterFunction } from '#executors/workflow/function.ts'
import { normalise, type SystemSource } from '#manifest/define/define.ts'
import { taskOfStep } from '#manifest/human/humans.ts'
import { durationMs } from '#manifest/time/duration.ts'
import { workerId } from '#model/kernel/ids.ts'
import { StepFailure } from '#model/run/step-failure.ts'
import type { Ids } from '#ports/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { VirtualClock } from '#testing/virtual-clock.ts'

export const HOUR = 3_600_000

/** Polls and leases so long that none fires in a test. */
const QUIET = { slots: 100, leaseTtlMs: 1_000 * HOUR, pollMs: 1_000 * HOUR, drainMs: 10 }

export interface EngineParts {
  readonly ledger: Ledger
  readonly clock: VirtualClock
  readonly source: SystemSource
  readonly ids?: Ids
  readonly worker?: Partial<WorkerOptions>
  readonly deps?: Partial<EngineDeps>
}

export const engineOf = ({
  ledger,
  clock,
  source,
  ids = new SystemIds(),
  worker = {},
  deps = {},
}: EngineParts): Engine =>
  new Engine(
    {
      ledger,
      blobs: new MemoryBlobs(),
      clock,
      ids,
      dispatcher: new InProcessDispatcher(clock),
      executors: new Map([['inline', inlineExecutor]]),
      enter: enterFunction({ parse: durationMs, taskOf: taskOfStep }),
      errors: (step, failure) => new StepFailure(step, failure),
      system: normalise(source, (text) => ids.digest(text)),
      ...deps,
    },
    { commit: { maxBatch: 64, maxInFlight: 1 }, worker: { id: workerId(ids.uuid()), ...QUIET, ...worker } },
  )
