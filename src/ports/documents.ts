/**
 * Reading documents: bytes in, text or rows out, away from the thread that asks.
 *
 * documents-1  Never throws; a document that cannot be read is an answer with a code.
 * documents-2  A document that is hostile or too large costs only its own reading time and memory.
 * documents-3  Answers soon after its signal aborts.
 */
import type { ErrorCode } from '#model/kernel/errors.ts'

export interface DocumentReader {
  read(document: DocumentSource, want: 'text' | 'table', signal: AbortSignal): Promise<Extracted>
}

export interface DocumentSource {
  readonly name: string
  /** In lower case, without parameters. */
  readonly mediaType: string
  readonly content: { readonly text: string } | { readonly base64: string }
}

/** `isCut`: the document has more than this. */
export type Extracted =
  | { readonly kind: 'pages'; readonly pages: readonly string[]; readonly isCut: boolean }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[]; readonly isCut: boolean }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string }
