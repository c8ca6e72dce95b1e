/**
 * Converts an HTML page to text for a model, or for a person without a browser. The only importer of html-to-text, loaded on first use.
 *
 * Owns what is kept of a page: headings, lists, tables and links as text; no script, style or image. Nothing is fetched. Pages are written
 * by strangers: size and depth are limited, because the parser's time grows with the square of the depth.
 */
const MAX_CHARS = 512 * 1024
/** Parsing a page that nests deeper took seconds; normal pages nest a few dozen levels. */
const MAX_NESTING = 2_000
/** The package uses recursion. */
const MAX_DEPTH = 256
const TAG = /<(\/?)([a-z][a-z0-9-]*)/gi
/** Elements with an optional or no end tag: they do not nest, however many there are. */
const ENDS_ITSELF =
  /^(area|base|br|col|dd|dt|embed|hr|img|input|li|link|meta|optgroup|option|p|param|source|tbody|td|tfoot|th|thead|tr|track|wbr)$/

/** True if more elements than the limit may be open at once. The count is never too low: an end tag counts only for an element of its name. */
const nestsTooDeep = (html: string): boolean => {
  const open = new Map<string, number>()
  let depth = 0
  for (const [, slash, tag = ''] of html.matchAll(TAG)) {
    const name = tag.toLowerCase()
    if (ENDS_ITSELF.test(name)) continue
    const count = open.get(name) ?? 0
    const step = slash === '' ? 1 : count > 0 ? -1 : 0
    open.set(name, count + step)
    depth += step
    if (depth > MAX_NESTING) return true
  }
  return false
}

const withoutTags = (html: string): string => html.replaceAll(/<[^<>]*>/g, ' ').replaceAll(/\s+/g, ' ')

export const htmlToText = async (page: string): Promise<string> => {
  const html = page.length > MAX_CHARS ? `${page.slice(0, MAX_CHARS)}…` : page
  if (nestsTooDeep(html)) return withoutTags(html)
  const { convert } = await import('html-to-text')
  return convert(html, {
    wordwrap: false,
    limits: { maxDepth: MAX_DEPTH, ellipsis: '…' },
    selectors: [
      { selector: 'img', format: 'skip' },
      { selector: 'svg', format: 'skip' },
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true, noAnchorUrl: true } },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
      { selector: 'table', format: 'dataTable', options: { uppercaseHeaderCells: false } },
    ],
  })
}
