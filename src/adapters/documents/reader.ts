/**
 * Reads documents in a worker thread: the thread may hang, use too much memory or die, and the process goes on.
 *
 * Owns the limits: bytes, heap, pages, rows. The thread is terminated after its answer, when the signal aborts, or when it exceeds a
 * limit.
 */
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { DocumentReader, DocumentSource, Extracted } from '#ports/documents.ts'
import { PROGRAM, type Reading, type ReadingLimits } from './thread.ts'

const LIMITS: ReadingLimits = {
  bytes: 64 * 1024 * 1024,
  pages: 500,
  characters: 4_000_000,
  rows: 100_000,
  record: 1_000_000,
}
const HEAP_MB = 256

/** Resolved here: the thread's program is not a module of its own. */
const require = createRequire(import.meta.url)
const modules = { csv: require.resolve('csv-parse/sync'), html: require.resolve('html-to-text') }

const bytesOf = ({ content }: DocumentSource): Uint8Array =>
  'text' in content ? Buffer.from(content.text, 'utf8') : Buffer.from(content.base64, 'base64')

const failed = (code: 'DOCUMENT_BROKEN' | 'STEP_ABORTED', message: string): Extracted => ({
  kind: 'failed',
  code,
  message,
})

const isBase64 = ({ content }: DocumentSource): boolean =>
  'text' in content || (/^[A-Za-z0-9+/_-]*={0,2}$/.test(content.base64) && content.base64.length % 4 !== 1)

interface Job {
  readonly document: DocumentSource
  readonly want: 'text' | 'table'
  readonly bytes: Uint8Array
  readonly heapMb: number
}

const perform = ({ document, want, bytes, heapMb }: Job, signal: AbortSignal): Promise<Extracted> =>
  new Promise((resolve) => {
    const { mediaType } = document
    const worker = new Worker(PROGRAM, {
      eval: true,
      workerData: { base: import.meta.url, modules, mediaType, want, bytes, limits: LIMITS } satisfies Reading,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      // Output of libraries is discarded.
      stdout: true,
      stderr: true,
      env: {},
    })
    const settle = (answer: Extracted): void => {
      signal.removeEventListener('abort', stop)
      resolve(answer)
      void worker.terminate()
    }
    const stop = (): void => settle(failed('STEP_ABORTED', 'the task was stopped'))
    signal.addEventListener('abort', stop)
    worker.once('message', (answer: Extracted) => settle(answer))
    worker.once('error', (error) => settle(failed('DOCUMENT_BROKEN', error.message)))
    worker.once('exit', () => settle(failed('DOCUMENT_BROKEN', 'the thread ended without an answer')))
  })

export const createDocumentReader = (heapMb = HEAP_MB): DocumentReader => ({
  async read(document, want, signal) {
    if (signal.aborted) return failed('STEP_ABORTED', 'the task was stopped')
    if (!isBase64(document)) return failed('DOCUMENT_BROKEN', 'its bytes are not base64')
    const bytes = bytesOf(document)
    if (bytes.byteLength > LIMITS.bytes)
      return failed('DOCUMENT_BROKEN', `it has ${bytes.byteLength} bytes; at most ${LIMITS.bytes} are allowed`)
    return perform({ document, want, bytes, heapMb }, signal)
  },
})
