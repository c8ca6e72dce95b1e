/** The reader of documents in its own thread: its answers, its limits, and when the thread is ended. */
import { expect, test } from 'vitest'
import type { DocumentSource } from '#ports/documents.ts'
import { createDocumentReader } from './reader.ts'

const document = (mediaType: string, text: string): DocumentSource => ({ name: 'a', mediaType, content: { text } })
const documentReader = createDocumentReader()
const never = (): AbortSignal => new AbortController().signal

test('documents-1: a document that cannot be read gives an answer with a code', async () => {
  const read = (mediaType: string, text: string) => documentReader.read(document(mediaType, text), 'text', never())
  expect(await read('application/json', '{')).toMatchObject({ kind: 'failed', code: 'DOCUMENT_BROKEN' })
  expect(await read('image/png', 'x')).toMatchObject({ kind: 'failed', code: 'DOCUMENT_UNSUPPORTED' })
  expect(await read('application/pdf', '%PDF-')).toMatchObject({
    kind: 'failed',
    code: 'PEER_MISSING',
    message: expect.stringContaining('unpdf'),
  })
})

test('documents-2: a document that needs too much memory ends its thread alone', async () => {
  const greedy = document('application/json', `[${'{"a":[1]},'.repeat(500_000)}0]`)
  expect(await createDocumentReader(16).read(greedy, 'text', never())).toMatchObject({
    kind: 'failed',
    code: 'DOCUMENT_BROKEN',
  })
  const modest = document('text/html', '<p>still here</p>')
  expect(await documentReader.read(modest, 'text', never())).toMatchObject({ kind: 'pages', pages: ['still here'] })
})

test('documents-3: it answers soon after its signal aborts, and at once if it has already aborted', async () => {
  const controller = new AbortController()
  const answer = documentReader.read(document('text/html', '<i>x'.repeat(1_000_000)), 'text', controller.signal)
  controller.abort()
  expect(await answer).toMatchObject({ kind: 'failed', code: 'STEP_ABORTED' })
  expect(await documentReader.read(document('text/plain', 'x'), 'text', controller.signal)).toMatchObject({
    code: 'STEP_ABORTED',
  })
})

test('a document beyond the limits gives a truncated result', async () => {
  const rows = document('text/csv', 'a,b\n'.repeat(100_002))
  expect(await documentReader.read(rows, 'table', never())).toMatchObject({ kind: 'table', isCut: true })
  const huge = document('text/plain', 'x'.repeat(5_000_000))
  expect(await documentReader.read(huge, 'text', never())).toMatchObject({ kind: 'pages', isCut: true })
})
