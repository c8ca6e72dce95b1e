/**
 * Templates in `.hbs` files: text from fields, by the optional peer `handlebars`.
 *
 * Owns its settings: what is missing is an error, nothing is escaped for HTML, and there are no helpers but the built-in ones.
 */
import { loadPeer } from '#adapters/peer.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'

interface Handlebars {
  compile(text: string, options: { readonly strict: boolean; readonly noEscape: boolean }): (roots: object) => string
}

/** As text: it need not be installed. */
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

/** Throws TEMPLATE_UNSUPPORTED while the peer is not installed; what the template lacks is the peer's own error. */
export const renderHandlebars = async (
  path: string,
  text: string,
  roots: Json,
  load: Load = () => import(PEER),
): Promise<string> => {
  const handlebars = await peerOf(load, path)
  return handlebars.compile(text, { strict: true, noEscape: true })(roots as object)
}
