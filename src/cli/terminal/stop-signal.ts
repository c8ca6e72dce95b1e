/**
 * Stop signals: the first Ctrl+C or SIGTERM asks the process to stop, a second one ends it at once.
 *
 * Owns the two signals of a serving process. A package manager may pass one Ctrl+C on twice, so a second one only counts after a moment.
 */
import { EXIT } from './output.ts'

const SAME_GESTURE_MS = 300

export const untilAskedToStop = (): Promise<void> =>
  new Promise((resolve) => {
    let isSecond = false
    const asked = (): void => {
      // Safe at any moment: everything acknowledged is on disk, and the next start continues from there.
      if (isSecond) process.exit(EXIT.interrupted)
      resolve()
      setTimeout(() => {
        isSecond = true
      }, SAME_GESTURE_MS).unref()
    }
    process.on('SIGINT', asked)
    process.on('SIGTERM', asked)
  })
