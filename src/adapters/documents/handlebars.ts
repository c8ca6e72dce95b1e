/**
 * Renders templates in `.hbs` files with the optional peer `handlebars`.
 *
 * Owns its settings: a missing field is an error, nothing is escaped for HTML, and only the built-in helpers exist.
 */
import { loadPeer } from '#adapters/peer.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'

interface Handlebars {
  compile(text: string, options: { readonly strict: boolean; readonly noEscape: boolean }): (roots: object) => string
}

/** Typed as string, so that the compiler does not require the package. */
const PEER: string = 'handlebars'

type Load = () => Promise<{ readonly default: Handlebars }>

const peerOf = async (load: Load, path: string): Promise<Handlebars> => {
  try {
    return (await loadPeer(PEER, load)).default
  } catch (error) {
    if (!(error instanceof TrihandError)) throw error
    const message = `${path} is a Handlebars template; run: npm install ${PEER}`
    throw new TrihandError('TEMPLATE_UNSUPPORTED', message, { cause: error })
  }
}

export const isHandlebars = (path: string): boolean => /\.(hbs|handlebars)$/i.test(path)

/** Throws TEMPLATE_UNSUPPORTED while the peer is not installed; a missing field is the peer's own error. */
export const renderHandlebars = async (
  path: string,
  text: string,
  roots: Json,
  load: Load = () => import(PEER),
): Promise<string> => {
  const handlebars = await peerOf(load, path)
  return handlebars.compile(text, { strict: true, noEscape: true })(roots as object)
}
