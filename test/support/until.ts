/**
 * Waits for something outside this process: tests never sleep for a guessed time.
 *
 * Owns the polling and the message with the last seen value. `pause` is for programs that must yield to others.
 */
const POLL_MS = 5

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Yields to timers and sockets: a loop over calls that never wait would block the process. */
export const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export interface UntilOptions {
  readonly timeoutMs?: number
  readonly what?: string
  readonly everyMs?: number
}

/** Polls until the answer satisfies the condition; fails with the last answer. */
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
