/**
 * `trihand manifest stubs [path]`: creates the files that the manifest names or implies and that do not exist.
 *
 * Owns the writing: never overwrites a file, never writes outside the folder of the manifest; with `--dry-run` nothing is written.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EXIT, visible } from '#cli/terminal/output.ts'
import type { Verb } from '#cli/terminal/shell.ts'
import { stubsOf } from '#manifest/edit/stubs.ts'
import { isExportedIn } from '#manifest/lint/schema-files.ts'
import { findManifest, readManifest } from './folder.ts'
import { printFindings } from './manifest.ts'

export interface StubFlags {
  readonly path?: string
  readonly dryRun?: boolean
}

/** False: the file exists. Another process may have created it meanwhile. */
const writeNew = (path: string, text: string): boolean => {
  mkdirSync(dirname(path), { recursive: true })
  try {
    writeFileSync(path, text, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'EEXIST') return false
    throw error
  }
}

export const writeStubs: Verb<StubFlags> = async ({ output }, { path, dryRun = false }) => {
  const { manifest, findings, file, paths, read } = readManifest(findManifest(path))
  if (manifest === null) {
    const errors = findings.filter(({ level }) => level === 'error')
    if (output.isJson) output.document({ errors })
    else printFindings(output, errors, (text) => output.talk(text))
    return EXIT.invalid
  }
  const folder = dirname(file)
  const stubs = stubsOf(manifest, paths, (name) => isExportedIn(name, { paths, read }))
  const written = stubs.filter((stub) => dryRun || writeNew(join(folder, stub.path), stub.text))
  if (output.isJson) output.document({ written: written.map((stub) => stub.path), dry_run: dryRun })
  else {
    for (const stub of written) output.line(visible(stub.path))
    if (written.length === 0) output.talk('No files are missing.')
  }
  return EXIT.done
}
