/** What is wrong with the text of a manifest, as the document that a caller gets. Reads no file beside it. */
import { loadManifest } from '#manifest/yaml/load.ts'

export interface ManifestText {
  readonly text: string
  /** What findings call it. */
  readonly file?: string
}

/** As JSON text, so that a thread hands over one string. */
export const verdictOf = ({ text, file }: ManifestText): string => {
  const { manifest, findings } = loadManifest(text, file)
  return JSON.stringify({ is_valid: manifest !== null, findings })
}
