/** What happens to a run that finds no room among the runs of its key. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type RunId, runId } from '#model/kernel/ids.ts'
import { judgeOverlap } from './overlap.ts'

const nameOf = (n: number): RunId => runId(n.toString(16).padStart(32, '0'))

/** Runs arrive or end; checks which runs are stopped and that the bound holds. */
const play = (policy: 'skip' | 'stop_oldest' | 'stop_newest', room: number, ends: readonly number[]) => {
  let running: readonly RunId[] = []
  const stopped: RunId[][] = []
  ends.forEach((end, n) => {
    const leaves = running[end]
    if (leaves !== undefined) {
      running = running.filter((run) => run !== leaves)
      return
    }
    const verdict = judgeOverlap({ running, waiting: [] }, policy, room)
    if (verdict.kind !== 'start') {
      expect(running).toHaveLength(room)
      return
    }
    const { terminates } = verdict
    stopped.push([...terminates])
    // No run is stopped for lack of room while there is room.
    if (running.length < room) expect(terminates).toEqual([])
    const wanted = policy === 'stop_oldest' ? running.slice(0, 1) : running.slice(-1)
    if (running.length === room) expect(terminates).toEqual(policy === 'skip' ? [] : wanted)
    running = [...running.filter((run) => !terminates.includes(run)), nameOf(n)]
    expect(running.length).toBeLessThanOrEqual(room)
  })
}

test.each(['skip', 'stop_oldest', 'stop_newest'] as const)('%s never leaves more runs than the bound', (policy) =>
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(fc.integer({ min: -4, max: 4 })), (room, ends) =>
      play(policy, room, ends),
    ),
    { numRuns: 300, seed: 11 },
  ),
)
