/**
 * A queue: a bounded line of messages that one handler works through in cycles; a stream of its own, claimed like a run.
 *
 * Owns how many may wait, which is next, which come back and which are given up. Never looks at the content of a message; the timeout of a cycle
 * is its run's own deadline.
 *
 * queue-1  A message that was put is in one place: it waits, is in one cycle, or is done, dead or dropped.
 * queue-2  A put never makes more messages wait than the bound: it is refused as a whole, or the oldest are dropped.
 * queue-3  A message is in no more cycles than its attempts allow, unless a person revives it.
 * queue-4  Messages leave in the order of arrival; one that comes back goes first when its time has come.
 */
import { retryDelayMs } from '#model/flow/policies/retry.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { type Decision, facts, type Machine, refuse } from '#model/kernel/machine.ts'
import type {
  Cycle,
  Message,
  OpenQueue,
  QueueCommand,
  QueueFact,
  QueuePolicy,
  QueueState,
  Returned,
} from './queue-fact.ts'

type CommandOf<Type extends QueueCommand['type']> = Extract<QueueCommand, { readonly type: Type }>
type FactOf<Type extends QueueFact['type']> = Extract<QueueFact, { readonly type: Type }>

/** If there are more dead messages than this, the older ones are only in the facts. */
const MAX_DEAD = 1_000
/** Retries come after the whole delay, not at a random instant before its end. */
const WHOLE_DELAY = 1

const BORN: OpenQueue = {
  kind: 'open',
  cursor: 0,
  passing: 0,
  unread: 0,
  returned: [],
  cycles: [],
  started: 0,
  dead: [],
}

/** Returns how many messages wait. */
export const queueLength = ({ unread, returned }: OpenQueue): number => unread + returned.length

const put = (state: OpenQueue, { now, count, policy }: CommandOf<'put'>): Decision<QueueFact> => {
  const over = queueLength(state) + count - policy.maxLength
  const added = { type: 'queue.put', at: now, count } as const
  if (over <= 0) return facts<QueueFact>(added)
  if (policy.onFull !== 'drop_oldest' || count > policy.maxLength)
    return refuse('QUEUE_FULL', `${queueLength(state)} messages wait; at most ${policy.maxLength} are allowed`)
  // queue-4: messages that came back are the older ones.
  const returned = state.returned
    .map(({ sequence }) => sequence)
    .sort((a, b) => a - b)
    .slice(0, over)
  return facts<QueueFact>({ type: 'queue.dropped', at: now, unread: over - returned.length, returned }, added)
}

/** Starts as many cycles as may run, each with the next messages. */
const take = (state: OpenQueue, command: CommandOf<'take'>): Decision<QueueFact> => {
  const { now, policy, runOf } = command
  const found: QueueFact[] = []
  const passed = command.unread.slice(0, state.passing)
  let cursor = passed.at(-1) ?? state.cursor
  if (passed.length > 0) found.push({ type: 'queue.passed', at: now, cursor, count: passed.length })
  if (passed.length < state.passing) return facts(...found)
  const back = state.returned.filter(({ dueAt }) => dueAt <= now)
  const unread = command.unread.slice(state.passing, state.passing + state.unread)
  for (let nth = state.started; nth - state.started < policy.cycles - state.cycles.length; nth++) {
    const again = back.splice(0, policy.batch)
    const fresh = unread.splice(0, policy.batch - again.length)
    if (again.length + fresh.length === 0) break
    cursor = fresh.at(-1) ?? cursor
    const messages = [
      ...again.map(({ sequence, attempts }) => ({ sequence, attempts: attempts + 1 })),
      ...fresh.map((sequence) => ({ sequence, attempts: 1 })),
    ]
    found.push({ type: 'queue.cycle_started', at: now, run: runOf(nth + 1), messages, cursor })
  }
  return facts(...found)
}

/** queue-3. */
const endCycle = (state: OpenQueue, command: CommandOf<'end_cycle'>): Decision<QueueFact> => {
  const { now, run, failed, policy } = command
  const cycle = state.cycles.find((one) => one.run === run)
  if (cycle === undefined) return facts()
  const left = cycle.messages.filter(({ sequence }) => failed.has(sequence))
  const back = left
    .filter(({ attempts }) => attempts < policy.maxAttempts)
    .map((message) => ({ ...message, dueAt: now + retryDelayMs(policy.retry, message.attempts, WHOLE_DELAY) }))
  const dead = left.filter(({ attempts }) => attempts >= policy.maxAttempts)
  return facts({ type: 'queue.cycle_ended', at: now, run, back, dead })
}

const revive = ({ dead }: OpenQueue, { now, by }: CommandOf<'revive'>): Decision<QueueFact> =>
  dead.length === 0
    ? facts()
    : facts({ type: 'queue.revived', at: now, messages: dead.map(({ sequence }) => sequence), by })

const byTime = (one: Returned, other: Returned): number => one.dueAt - other.dueAt || one.sequence - other.sequence

const drop = (state: OpenQueue, { unread, returned }: FactOf<'queue.dropped'>): OpenQueue => {
  const gone = new Set(returned)
  return {
    ...state,
    unread: state.unread - unread,
    passing: state.passing + unread,
    returned: state.returned.filter(({ sequence }) => !gone.has(sequence)),
  }
}

const startCycle = (state: OpenQueue, { run, messages, cursor }: FactOf<'queue.cycle_started'>): OpenQueue => {
  const taken = new Set(messages.map(({ sequence }) => sequence))
  const returned = state.returned.filter(({ sequence }) => !taken.has(sequence))
  const fresh = messages.length - (state.returned.length - returned.length)
  const cycle: Cycle = { run, messages }
  const { cycles, started, unread } = state
  return { ...state, cursor, returned, unread: unread - fresh, cycles: [...cycles, cycle], started: started + 1 }
}

const finishCycle = (state: OpenQueue, { run, back, dead }: FactOf<'queue.cycle_ended'>): OpenQueue => ({
  ...state,
  cycles: state.cycles.filter((cycle) => cycle.run !== run),
  returned: back.length === 0 ? state.returned : [...state.returned, ...back].sort(byTime),
  dead: dead.length === 0 ? state.dead : [...state.dead, ...dead].slice(-MAX_DEAD),
})

const reviveDead = (state: OpenQueue, { at, messages }: FactOf<'queue.revived'>): OpenQueue => {
  const revived = new Set(messages)
  const isRevived = ({ sequence }: Message): boolean => revived.has(sequence)
  const back = state.dead.filter(isRevived).map(({ sequence }) => ({ sequence, attempts: 0, dueAt: at }))
  return {
    ...state,
    dead: state.dead.filter((message) => !isRevived(message)),
    returned: [...state.returned, ...back].sort(byTime),
  }
}

const evolveOpen = (state: OpenQueue, fact: QueueFact): QueueState => {
  switch (fact.type) {
    case 'queue.opened':
      return state
    case 'queue.checkpointed':
      return fact.state
    case 'queue.put':
      return { ...state, unread: state.unread + fact.count }
    case 'queue.dropped':
      return drop(state, fact)
    case 'queue.passed':
      return { ...state, cursor: fact.cursor, passing: state.passing - fact.count }
    case 'queue.cycle_started':
      return startCycle(state, fact)
    case 'queue.cycle_ended':
      return finishCycle(state, fact)
    case 'queue.revived':
      return reviveDead(state, fact)
  }
}

const evolve = (state: QueueState, fact: QueueFact): QueueState => {
  if (state.kind === 'open') return evolveOpen(state, fact)
  if (fact.type === 'queue.checkpointed') return fact.state
  return fact.type === 'queue.opened' ? BORN : state
}

export const queue: Machine<QueueState, QueueCommand, QueueFact> = {
  initial: { kind: 'none' },

  decide(state, command) {
    if (state.kind === 'none')
      return command.type === 'open_queue'
        ? facts({ type: 'queue.opened', at: command.now })
        : refuse('NOT_FOUND', 'the queue does not exist')
    switch (command.type) {
      case 'open_queue':
        return facts()
      case 'put':
        return put(state, command)
      case 'take':
        return take(state, command)
      case 'end_cycle':
        return endCycle(state, command)
      case 'revive':
        return revive(state, command)
    }
  },

  evolve,
}

/** Returns when the queue has something to do without new input; null: never. An instant in the past: now. */
export const queueWakeAt = (state: QueueState, { cycles }: Pick<QueuePolicy, 'cycles'>): Instant | null => {
  if (state.kind === 'none' || state.cycles.length >= cycles) return null
  return state.unread > 0 ? 0 : (state.returned[0]?.dueAt ?? null)
}

/** Returns the state after these last facts; null if they do not reach back to a checkpoint or to the opening. */
export const resumeQueueFrom = (tail: readonly QueueFact[]): QueueState | null => {
  const begin = tail.findLastIndex(({ type }) => type === 'queue.checkpointed' || type === 'queue.opened')
  return begin === -1 ? null : tail.slice(begin).reduce<QueueState>(evolve, { kind: 'none' })
}
