/** Validates the text of a manifest and returns the document for the caller. Reads no other file. */
import { loadManifest } from '#manifest/yaml/load.ts'

export interface ManifestText {
  readonly text: string
  /** The file name in findings. */
  readonly file?: string
}

/** Returns JSON text, so that a thread passes on a single string. */
export const verdictOf = ({ text, file }: ManifestText): string => {
  const { manifest, findings } = loadManifest(text, file)
  return JSON.stringify({ is_valid: manifest !== null, findings })
}
