/**
 * A search of the web, by whoever a host has chosen for it. What it finds was written by strangers.
 *
 * It answers or throws; it never retries, and stops with the signal.
 */
export interface Search {
  find(query: string, options: { readonly limit: number; readonly signal: AbortSignal }): Promise<readonly Found[]>
}

export interface Found {
  readonly title: string
  readonly url: string
  readonly snippet: string
}
