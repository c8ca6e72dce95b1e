/** Runs only the tests of this folder, with the project's runner. */
import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { root: import.meta.dirname, include: ['*.test.ts'], testTimeout: 60_000 } })
