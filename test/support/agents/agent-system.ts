/**
 * A test system with agents: a separate folder, a counting model, and waits for real files without guessed times.
 *
 * Owns the folder of each test and its removal.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { RunResult } from '#engine/outcome/result.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { LOCAL_TENANT, type RunId, type TaskId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { Inbox } from '#test/support/serving/inbox.ts'
import { startTestSystem, type TestExecutors, type TestStore, type TestSystem } from '#testing/system.ts'
import type { PaidModel } from './agents.ts'

export interface Place {
  readonly folder: string
  put(path: string, text: string): void
}

/** A new folder for each test of a file. */
export const agentPlace = (): Place => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trihand-agents-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  return {
    get folder() {
      return folder
    },
    put: (path, text) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    },
  }
}

/** Null: the test brings no model, so every name is the simulated one. */
export const beginAgents = (
  source: Partial<SystemSource>,
  store: TestStore,
  place: Place,
  model: PaidModel | null,
): Promise<TestSystem> => {
  const hands: TestExecutors = {
    folder: place.folder,
    agents: {
      ...(model === null ? {} : { models: model }),
      workspaces: join(place.folder, 'workspaces'),
      price: (_, id, { input, output }) => ({
        micros: input + 5 * output,
        model: id,
        source: 'test',
        approximate: false,
      }),
    },
  }
  return startTestSystem({ name: 'agents', ...source }, store, hands)
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Files are real, so a run's work is over when the ledger says so, not when virtual time stops. */
export const untilStatus = (system: TestSystem, run: RunId, ...statuses: readonly RunStatus[]): Promise<RunResult> =>
  system.run(async () => {
    for (;;) {
      const seen = await system.look(run)
      if (statuses.includes(seen.status)) return seen
      await turn()
    }
  })

/** Resolves with the first open task. */
export const untilTask = async (inbox: Pick<Inbox, 'list'>): Promise<TaskId> => {
  for (;;) {
    const [task] = await inbox.list()
    if (task !== undefined) return task.id
    await turn()
  }
}

export const ended = (system: TestSystem, run: RunId): Promise<RunResult> =>
  untilStatus(system, run, 'success', 'partial', 'failed', 'cancelled', 'quarantined')

/** The result of each completed step of a run, by its address. */
export const stepResults = async (system: TestSystem, run: RunId): Promise<ReadonlyMap<string, Json>> => {
  const sealed = await system.run(() => system.store.reader.facts(LOCAL_TENANT, run, { after: 0, limit: 1_000 }))
  const results = new Map<string, Json>()
  for (const written of sealed) {
    const fact = readRunFact(written)
    if (fact.type === 'step.completed' && 'value' in fact.result) results.set(fact.step, fact.result.value)
  }
  return results
}
