/**
 * Searches the web with the provider that the host has chosen. The results were written by strangers.
 *
 * It answers or throws; it never retries, and stops when the signal aborts.
 */
export interface Search {
  find(query: string, options: { readonly limit: number; readonly signal: AbortSignal }): Promise<readonly Found[]>
}

export interface Found {
  readonly title: string
  readonly url: string
  readonly snippet: string
}
