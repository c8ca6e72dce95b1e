/**
 * Waiting for something outside this process, and nothing else: tests never sleep for a guessed time.
 *
 * Owns the polling and the message of what was last seen. `pause` is for programs that must give others a turn.
 */
const POLL_MS = 5

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Lets timers and sockets have their turn: a loop over calls that never wait would keep the process deaf. */
export const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export interface UntilOptions {
  readonly timeoutMs?: number
  readonly what?: string
  readonly everyMs?: number
}

/** Asks again until the answer holds; fails with the last answer. */
export const until = async <T>(
  ask: () => T | Promise<T>,
  holds: (answer: T) => boolean,
  { timeoutMs = 10_000, what = 'the condition', everyMs = POLL_MS }: UntilOptions = {},
): Promise<T> => {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (holds(answer)) return answer
    if (performance.now() > deadline)
      throw new Error(`${what} did not hold within ${timeoutMs} ms; last seen: ${JSON.stringify(answer)}`)
    await pause(everyMs)
  }
}
