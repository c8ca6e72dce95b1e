/**
 * Reading documents: bytes in, text or rows out, away from the thread that asks.
 *
 * documents-1  Never throws; what cannot be read is an answer with a code.
 * documents-2  A document that is hostile or too large costs its own time and memory, nobody else's.
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

/** `isCut`: there was more. */
export type Extracted =
  | { readonly kind: 'pages'; readonly pages: readonly string[]; readonly isCut: boolean }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[]; readonly isCut: boolean }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string }
