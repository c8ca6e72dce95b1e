/** The tests of this folder alone; the runner is the project's. */
import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { root: import.meta.dirname, include: ['*.test.ts'], testTimeout: 60_000 } })
