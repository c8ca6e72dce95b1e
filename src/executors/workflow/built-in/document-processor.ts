/**
 * `document_processor`: text, tables and pieces of documents.
 *
 * Owns what a task may ask for and when its result is partial: some documents failed, or something was cut. The port reads the bytes:
 * off this thread, within limits.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { DocumentReader, DocumentSource, Extracted } from '#ports/documents.ts'
import type { Executor, ExecutorResult } from '#ports/executor.ts'
import { answered, failedWith, listAt, type Members, membersOf, textAt, textOr, wholeOr } from './task-input.ts'

const MAX_DOCUMENTS = 100
const CHUNK = 2_000

interface Read {
  readonly name: string
  readonly extracted: Extracted
}

const sourceOf = (document: Members): DocumentSource => {
  const { bytes, text } = document
  if ((typeof bytes === 'string') === (typeof text === 'string'))
    throw new TrihandError('INPUT_INVALID', 'a document needs either base64 or text, not both')
  return {
    name: textOr(document, 'name', 'document'),
    mediaType: textAt(document, 'media_type').split(';')[0]?.trim().toLowerCase() ?? '',
    content: typeof text === 'string' ? { text } : { base64: String(bytes) },
  }
}

/** Cuts at a line end if there is one in the last half of the piece: a word split over two pieces is found in neither. */
const split = (text: string, size: number, overlap: number): readonly string[] => {
  const chunks: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = Math.min(at + size, text.length)
    const lineEnd = end === text.length ? end : text.lastIndexOf('\n', end) + 1
    const until = lineEnd > at + size / 2 ? lineEnd : end
    chunks.push(text.slice(at, until))
    if (until === text.length) break
    at = Math.max(until - overlap, at + 1)
  }
  return chunks
}

const textOf = (extracted: Extracted): string => (extracted.kind === 'pages' ? extracted.pages.join('\n\n') : '')

const content = (type: string, task: Members, done: readonly Read[]): Members => {
  switch (type) {
    case 'extract_text':
      return {
        content: done.map(({ extracted }) => textOf(extracted)).join('\n\n'),
        format: 'text',
        pages: done.flatMap(({ name, extracted }) =>
          extracted.kind === 'pages' ? extracted.pages.map((text, i) => ({ document: name, page: i + 1, text })) : [],
        ),
      }
    case 'extract_table': {
      const tables = done.flatMap(({ name, extracted }) =>
        extracted.kind === 'table' ? [{ document: name, rows: extracted.rows }] : [],
      )
      return { content: tables as unknown as Json, format: 'json' }
    }
    case 'split': {
      const size = wholeOr(task, 'size', CHUNK)
      const overlap = wholeOr(task, 'overlap', 0)
      if (size < 1 || overlap >= size) throw new TrihandError('INPUT_INVALID', 'task.size must be above task.overlap')
      const chunks = done.flatMap(({ name, extracted }) =>
        split(textOf(extracted), size, overlap).map((text) => ({ document: name, text })),
      )
      return { content: `${chunks.length} chunks`, format: 'text', chunks }
    }
    default:
      throw new TrihandError('INPUT_INVALID', `${type} is not one of extract_text, extract_table, split`)
  }
}

const resultOf = (type: string, task: Members, read: readonly Read[]): ExecutorResult => {
  const failures = read.flatMap(({ name, extracted }) => (extracted.kind === 'failed' ? [{ name, ...extracted }] : []))
  const done = read.filter(({ extracted }) => extracted.kind !== 'failed')
  const [first] = failures
  if (done.length === 0 && first !== undefined) return failedWith(first.code, `${first.name}: ${first.message}`)
  const isCut = done.some(({ extracted }) => extracted.kind !== 'failed' && extracted.isCut)
  const errors = failures.map(({ name, code, message }) => ({ document: name, code, message }))
  return {
    status: failures.length > 0 || isCut ? 'partial' : 'success',
    result: { ...content(type, task, done), ...(errors.length === 0 ? {} : { errors }) },
  }
}

export const documentProcessor = (reader: DocumentReader): Executor => ({
  execute: ({ task: { type: given, input } }, abort) =>
    answered(async () => {
      const task = membersOf(input)
      const type = given === 'document_processor' ? 'extract_text' : given
      const documents = listAt(task, 'documents').map(sourceOf)
      if (documents.length === 0 || documents.length > MAX_DOCUMENTS)
        throw new TrihandError('INPUT_INVALID', `task.documents must be 1 to ${MAX_DOCUMENTS} documents`)
      content(type, task, [])
      const read: Read[] = []
      // One after another, because each is read in a thread of its own.
      for (const document of documents)
        read.push({
          name: document.name,
          extracted: await reader.read(document, type === 'extract_table' ? 'table' : 'text', abort.signal),
        })
      return abort.signal.aborted ? failedWith('STEP_ABORTED', 'the task was stopped') : resultOf(type, task, read)
    }),
})
