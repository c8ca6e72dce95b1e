/** The part of html-to-text that we call; the package brings no types of its own. */
declare module 'html-to-text' {
  export interface Selector {
    readonly selector: string
    readonly format?: string
    readonly options?: Readonly<Record<string, unknown>>
  }
  export interface Options {
    readonly wordwrap?: number | false
    readonly limits?: { readonly maxInputLength?: number; readonly maxDepth?: number; readonly ellipsis?: string }
    readonly selectors?: readonly Selector[]
  }
  export function convert(html: string, options?: Options): string
}
