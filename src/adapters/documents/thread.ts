/**
 * The program of the thread that reads a document. The reader starts it from this function's own text, so that it also runs in a bundle.
 *
 * Must not use a name from outside its function: the thread has nothing but what it is given. Owns the calls of the libraries; everything
 * that they print stays in the thread.
 */
import type { Extracted } from '#ports/documents.ts'

export interface ReadingLimits {
  readonly bytes: number
  readonly pages: number
  readonly characters: number
  readonly rows: number
  /** Characters of one record of a CSV file. */
  readonly record: number
}

/** What the thread is given as its `workerData`. */
export interface Reading {
  /** The module that packages are resolved from. */
  readonly base: string
  readonly modules: { readonly csv: string; readonly html: string }
  readonly mediaType: string
  readonly want: 'text' | 'table'
  readonly bytes: Uint8Array
  readonly limits: ReadingLimits
}

type Parse = (text: string, options: object) => readonly (readonly string[])[]
type Convert = (text: string, options: object) => string
interface Pdf {
  getDocumentProxy(bytes: Uint8Array): Promise<object>
  extractText(document: object, options: object): Promise<{ readonly text: readonly string[] }>
}
interface Word {
  extractRawText(source: { readonly buffer: Buffer }): Promise<{ readonly value: string }>
}

/** `load` requires a package as the module of the reader would; `bring` imports a file. */
const readDocument = async (
  { mediaType, want, bytes, limits, modules }: Reading,
  load: NodeJS.Require,
  bring: (path: string) => Promise<unknown>,
): Promise<Extracted> => {
  type Failure = Extract<Extracted, { readonly kind: 'failed' }>
  const fail = (code: Failure['code'], message: unknown): Failure => ({
    kind: 'failed',
    code,
    message: (String(message).split('\n')[0] ?? '').slice(0, 500),
  })
  const peer = async (name: string): Promise<unknown> => {
    try {
      return await bring(load.resolve(name))
    } catch {
      throw Object.assign(new Error(`install ${name} to read ${mediaType}`), { code: 'PEER_MISSING' })
    }
  }
  const decode = (): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  const pages = (all: readonly string[]): Extract<Extracted, { readonly kind: 'pages' }> => {
    const kept = all.slice(0, limits.pages).map((text) => text.slice(0, limits.characters))
    const isCut = all.length > kept.length || kept.some((text, at) => text.length < (all[at] ?? '').length)
    return { kind: 'pages', pages: kept, isCut }
  }
  const table = (rows: readonly (readonly unknown[])[], isCut: boolean): Extracted => ({
    kind: 'table',
    rows: rows.map((row) => row.map(String)),
    isCut,
  })

  const csv = () => {
    const { parse } = load(modules.csv) as { readonly parse: Parse }
    const rows = parse(decode(), {
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      delimiter: mediaType === 'text/tab-separated-values' ? '\t' : ',',
      max_record_size: limits.record,
      to: limits.rows + 1,
    })
    return { rows: rows.slice(0, limits.rows), isCut: rows.length > limits.rows }
  }
  const json = (): Extracted => {
    const value: unknown = JSON.parse(decode())
    if (want === 'text') return pages([JSON.stringify(value, null, 2)])
    if (!Array.isArray(value) || !value.every((row) => row !== null && typeof row === 'object'))
      return fail('DOCUMENT_UNSUPPORTED', 'a table in JSON must be a list of objects or of lists')
    const all = value as readonly (readonly unknown[] | Readonly<Record<string, unknown>>)[]
    const isList = (row: (typeof all)[number]): row is readonly unknown[] => Array.isArray(row)
    const keys = [...new Set(all.flatMap((row) => (isList(row) ? [] : Object.keys(row))))]
    const text = (cell: unknown): unknown =>
      cell === undefined || cell === null ? '' : typeof cell === 'object' ? JSON.stringify(cell) : cell
    const rows = all.map((row) => (isList(row) ? row.map(text) : keys.map((key) => text(row[key]))))
    return table([...(keys.length === 0 ? [] : [keys]), ...rows].slice(0, limits.rows), rows.length > limits.rows)
  }
  const html = (): Extracted => {
    const { convert } = load(modules.html) as { readonly convert: Convert }
    const text = convert(decode(), {
      wordwrap: false,
      limits: { maxInputLength: limits.bytes, maxDepth: 200 },
      selectors: [
        { selector: 'a', options: { ignoreHref: true } },
        { selector: 'img', format: 'skip' },
      ],
    })
    return pages([text])
  }
  const pdf = async (): Promise<Extracted> => {
    const { getDocumentProxy, extractText } = (await peer('unpdf')) as Pdf
    const { text } = await extractText(await getDocumentProxy(new Uint8Array(bytes)), { mergePages: false })
    return pages(text)
  }
  const docx = async (): Promise<Extracted> => {
    const mammoth = (await peer('mammoth')) as Word & { readonly default?: Word }
    const { value } = await (mammoth.default ?? mammoth).extractRawText({ buffer: Buffer.from(bytes) })
    return pages([value])
  }
  const read = async (): Promise<Extracted> => {
    if (mediaType === 'text/csv' || mediaType === 'text/tab-separated-values') {
      const { rows, isCut } = csv()
      if (want === 'table') return table(rows, isCut)
      return { ...pages([rows.map((row) => row.join('\t')).join('\n')]), isCut }
    }
    if (mediaType === 'application/json' || mediaType.endsWith('+json')) return json()
    if (want === 'table') return fail('DOCUMENT_UNSUPPORTED', `${mediaType} has no readable table`)
    if (mediaType === 'text/html' || mediaType === 'application/xhtml+xml') return html()
    if (mediaType === 'application/pdf') return pdf()
    if (mediaType === 'application/vnd.openxmlformats-officedocument.wordprocessingml.document') return docx()
    if (mediaType.startsWith('text/')) return pages([decode()])
    return fail('DOCUMENT_UNSUPPORTED', `${mediaType} is not supported`)
  }

  try {
    return await read()
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string }
    return fail(code === 'PEER_MISSING' ? 'PEER_MISSING' : 'DOCUMENT_BROKEN', message)
  }
}

/** The text that the thread evaluates. */
export const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads')
const load = require('node:module').createRequire(workerData.base)
const read = ${readDocument.toString()}
read(workerData, load, (path) => import(path)).then((answer) => parentPort.postMessage(answer))
`
