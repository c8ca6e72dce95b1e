/** The entry of the thread that validates a manifest: one text, one result. Started by validation.ts alone. */
import { parentPort, workerData } from 'node:worker_threads'
import { type ManifestText, verdictOf } from './manifest-verdict.ts'

parentPort?.postMessage(verdictOf(workerData as ManifestText))
