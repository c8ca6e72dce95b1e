/** Prints a manifest in its long form as YAML, with every short form expanded. Loading it again gives the same manifest. */
import { stringify } from 'yaml'
import { MANIFEST } from '#manifest/yaml/check/sections.ts'
import type { Manifest } from './manifest.ts'

/** Sections in the order of the table. */
export const ordered = (manifest: Manifest): Readonly<Record<string, unknown>> => {
  const sections = Object.keys(MANIFEST.fields).filter((section) => manifest[section] !== undefined)
  const notes = Object.keys(manifest).filter((section) => !sections.includes(section))
  return Object.fromEntries([...sections, ...notes].map((section) => [section, manifest[section]]))
}

export const printManifest = (manifest: Manifest): string =>
  stringify(ordered(manifest), { version: '1.2', schema: 'core', lineWidth: 120, aliasDuplicateObjects: false })
