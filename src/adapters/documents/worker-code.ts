/**
 * The code of the thread that reads a document, as text: it must work on its own in a source tree, in a bundled file and under a test
 * runner.
 *
 * Owns the calls of the libraries. Everything that the libraries print stays in the thread.
 */
export const WORKER_CODE = `
const { parentPort, workerData } = require('node:worker_threads')
const { createRequire } = require('node:module')
const { base, modules, mediaType, want, bytes, limits } = workerData
const load = createRequire(base)

const fail = (code, message) => ({ kind: 'failed', code, message: String(message).split('\\n')[0].slice(0, 500) })
const peer = async (name) => {
  try {
    return await import(load.resolve(name))
  } catch {
    throw Object.assign(new Error('install ' + name + ' to read ' + mediaType), { code: 'PEER_MISSING' })
  }
}
const decode = () => new TextDecoder('utf-8', { fatal: true }).decode(bytes)
const pages = (all) => {
  const kept = all.slice(0, limits.pages).map((text) => text.slice(0, limits.characters))
  return { kind: 'pages', pages: kept, isCut: all.length > kept.length || kept.some((text, i) => text.length < all[i].length) }
}
const table = (rows, isCut) => ({ kind: 'table', rows: rows.map((row) => row.map(String)), isCut })

const csv = () => {
  const { parse } = load(modules.csv)
  const rows = parse(decode(), {
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    delimiter: mediaType === 'text/tab-separated-values' ? '\\t' : ',',
    max_record_size: limits.record,
    to: limits.rows + 1,
  })
  return { rows: rows.slice(0, limits.rows), isCut: rows.length > limits.rows }
}
const json = () => {
  const value = JSON.parse(decode())
  if (want === 'text') return pages([JSON.stringify(value, null, 2)])
  if (!Array.isArray(value) || !value.every((row) => row !== null && typeof row === 'object'))
    return fail('DOCUMENT_UNSUPPORTED', 'a table in JSON is a list of objects or of lists')
  const keys = [...new Set(value.flatMap((row) => (Array.isArray(row) ? [] : Object.keys(row))))]
  const text = (cell) => (cell === undefined || cell === null ? '' : typeof cell === 'object' ? JSON.stringify(cell) : cell)
  const rows = value.map((row) => (Array.isArray(row) ? row.map(text) : keys.map((key) => text(row[key]))))
  return table([...(keys.length === 0 ? [] : [keys]), ...rows].slice(0, limits.rows), rows.length > limits.rows)
}
const html = () => {
  const { convert } = load(modules.html)
  const text = convert(decode(), {
    wordwrap: false,
    limits: { maxInputLength: limits.bytes, maxDepth: 200 },
    selectors: [{ selector: 'a', options: { ignoreHref: true } }, { selector: 'img', format: 'skip' }],
  })
  return pages([text])
}
const pdf = async () => {
  const { getDocumentProxy, extractText } = await peer('unpdf')
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(bytes)), { mergePages: false })
  return pages(text)
}
const docx = async () => {
  const mammoth = await peer('mammoth')
  const { value } = await (mammoth.default ?? mammoth).extractRawText({ buffer: Buffer.from(bytes) })
  return pages([value])
}

const read = async () => {
  if (mediaType === 'text/csv' || mediaType === 'text/tab-separated-values') {
    const { rows, isCut } = csv()
    return want === 'table' ? table(rows, isCut) : { ...pages([rows.map((row) => row.join('\\t')).join('\\n')]), isCut }
  }
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) return json()
  if (want === 'table') return fail('DOCUMENT_UNSUPPORTED', mediaType + ' holds no table that we can read')
  if (mediaType === 'text/html' || mediaType === 'application/xhtml+xml') return html()
  if (mediaType === 'application/pdf') return pdf()
  if (mediaType === 'application/vnd.openxmlformats-officedocument.wordprocessingml.document') return docx()
  if (mediaType.startsWith('text/')) return pages([decode()])
  return fail('DOCUMENT_UNSUPPORTED', mediaType + ' is not a type we can read')
}

read()
  .catch((error) => fail(error.code === 'PEER_MISSING' ? 'PEER_MISSING' : 'DOCUMENT_BROKEN', error.message))
  .then((answer) => parentPort.postMessage(answer))
`
