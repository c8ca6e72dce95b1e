/** What the thread of a SQLite ledger runs: opens the file it was told of and serves it (serve.ts). Started by thread.ts alone. */
import { parentPort, workerData } from 'node:worker_threads'
import { type ServeOptions, serveFile } from './serve.ts'

if (parentPort !== null) await serveFile(parentPort, workerData as ServeOptions)
