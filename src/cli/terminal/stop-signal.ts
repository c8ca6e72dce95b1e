/**
 * Being asked to stop: the first Ctrl+C or SIGTERM is a request, a second one an order.
 *
 * Owns the two signals of a serving process. A package manager may pass one Ctrl+C on twice, so the second counts after a moment.
 */
import { EXIT } from './output.ts'

const SAME_GESTURE_MS = 300

export const untilAskedToStop = (): Promise<void> =>
  new Promise((resolve) => {
    let isSecond = false
    const asked = (): void => {
      // Safe at any moment: what was acknowledged is on disk, and the next start goes on from there.
      if (isSecond) process.exit(EXIT.interrupted)
      resolve()
      setTimeout(() => {
        isSecond = true
      }, SAME_GESTURE_MS).unref()
    }
    process.on('SIGINT', asked)
    process.on('SIGTERM', asked)
  })
