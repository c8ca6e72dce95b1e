/** `document_processor`, tested by the shared suite and by the formats that it reads. */
import { describe, expect, test } from 'vitest'
import { createDocumentReader } from '#adapters/documents/reader.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Envelope } from '#ports/executor.ts'
import { executorSuite } from '#testing/executor-suite.ts'
import { documentProcessor } from './document-processor.ts'

const envelope = (type: string, input: Json): Envelope => ({
  taskId: 'task-1',
  executorType: 'document_processor',
  task: { type, input, call: null },
  context: { run: 'r', step: 's', attempt: 1, traceparent: null, effectKey: 'th1_k' },
  constraints: { timeoutMs: 30_000 },
})

const text = (name: string, mediaType: string, content: string): Json => ({
  name,
  media_type: mediaType,
  text: content,
})
const NOTE = text('note.md', 'text/markdown', '# Title\nbody')
const documents = documentProcessor(createDocumentReader())

executorSuite(
  'document_processor',
  () => ({
    executor: documents,
    succeeds: envelope('document_processor', { documents: [NOTE], size: 100 }),
    fails: envelope('document_processor', { documents: [text('a.json', 'application/json', '{')] }),
    hangs: envelope('document_processor', { documents: [text('a.html', 'text/html', '<p>x</p>'.repeat(50_000))] }),
  }),
  { tasks: 60 },
)

describe('document_processor', () => {
  const process = (type: string, task: Json) =>
    documents.execute(envelope(type, task), { signal: new AbortController().signal })

  test('[E2] text, Markdown, JSON, HTML and CSV become text', async () => {
    const result = await process('extract_text', {
      documents: [
        NOTE,
        text(
          'a.html',
          'text/html; charset=utf-8',
          '<h1>Hi</h1><p>A <a href="https://x">link</a></p><script>no()</script>',
        ),
        text('a.csv', 'text/csv', 'name,age\n"Ana, A.",7\n'),
        { name: 'b.json', media_type: 'application/json', bytes: Buffer.from('{"a":[1]}').toString('base64') },
      ],
    })
    expect(result).toMatchObject({ status: 'success' })
    const { pages } = (result as { result: { pages: readonly { document: string; text: string }[] } }).result
    expect(pages.map(({ document, text: page }) => [document, page])).toEqual([
      ['note.md', '# Title\nbody'],
      ['a.html', expect.stringMatching(/^HI\n+A link$/)],
      ['a.csv', 'name\tage\nAna, A.\t7'],
      ['b.json', '{\n  "a": [\n    1\n  ]\n}'],
    ])
  })

  test('[E2] tables are returned as rows, and long texts in pieces that end at a line end where there is one', async () => {
    expect(
      await process('extract_table', {
        documents: [text('a.csv', 'text/csv', 'a,b\n1,2\n'), text('b.json', 'application/json', '[{"a":1},{"b":[2]}]')],
      }),
    ).toMatchObject({
      result: {
        content: [
          {
            document: 'a.csv',
            rows: [
              ['a', 'b'],
              ['1', '2'],
            ],
          },
          {
            document: 'b.json',
            rows: [
              ['a', 'b'],
              ['1', ''],
              ['', '[2]'],
            ],
          },
        ],
      },
    })
    expect(
      await process('split', { documents: [text('a', 'text/plain', 'one\ntwo\nthree')], size: 9, overlap: 2 }),
    ).toMatchObject({
      result: { chunks: [{ text: 'one\ntwo\n' }, { text: 'o\nthree' }] },
    })
  })

  test('[E3] if some documents fail, the rest is a partial result with the reasons', async () => {
    expect(
      await process('extract_text', { documents: [NOTE, text('a.exe', 'application/x-dosexec', 'MZ')] }),
    ).toMatchObject({
      status: 'partial',
      result: { errors: [{ document: 'a.exe', code: 'DOCUMENT_UNSUPPORTED' }] },
    })
  })

  test.each([
    ['PEER_MISSING', { name: 'a', media_type: 'application/pdf', bytes: 'JVBERi0=' }],
    ['DOCUMENT_BROKEN', { name: 'a', media_type: 'text/plain', bytes: '/w==' }],
    ['DOCUMENT_BROKEN', { name: 'a', media_type: 'text/plain', bytes: 'not base64!' }],
    ['DOCUMENT_BROKEN', { name: 'a', media_type: 'text/csv', text: '"open' }],
    ['INPUT_INVALID', { name: 'a', media_type: 'text/plain' }],
  ])('[E6] %s', async (code, document) => {
    expect(await process('extract_text', { documents: [document] })).toMatchObject({
      status: 'failed',
      error: { code },
    })
  })
})
