/** What the thread that judges a manifest runs: one text, one answer. Started by validation.ts alone. */
import { parentPort, workerData } from 'node:worker_threads'
import { type ManifestText, verdictOf } from './manifest-verdict.ts'

parentPort?.postMessage(verdictOf(workerData as ManifestText))
