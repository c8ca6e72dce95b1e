/** Entry of the thread of a SQLite ledger: opens the given file and serves it (serve.ts). Started by thread.ts only. */
import { parentPort, workerData } from 'node:worker_threads'
import { type ServeOptions, serveFile } from './serve.ts'

if (parentPort !== null) await serveFile(parentPort, workerData as ServeOptions)
