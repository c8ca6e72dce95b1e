/**
 * `trihand manifest validate|graph|types|print [path]` and `diff <old> <new>`: shows a manifest and its errors before anything runs.
 *
 * Owns the exit codes: 0 it would load; 4 it would not, or with `--strict` there are warnings; 1 two manifests differ. Executes nothing of
 * a folder with a manifest. `validate` and `diff` also read a system that is written as code, which is loaded for that.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { codeFolder } from '#cli/connect/settings.ts'
import { EXIT, type Output, visible } from '#cli/terminal/output.ts'
import type { Shell, Verb } from '#cli/terminal/shell.ts'
import { declarationsOf } from '#manifest/define/declarations.ts'
import { shapeOf } from '#manifest/define/define.ts'
import { graphOf } from '#manifest/define/graph.ts'
import { mermaidOf } from '#manifest/define/mermaid.ts'
import { type Difference, differencesOf } from '#manifest/edit/difference.ts'
import type { Finding, Level } from '#manifest/yaml/finding.ts'
import type { Manifest } from '#manifest/yaml/manifest.ts'
import { ordered, printManifest } from '#manifest/yaml/print.ts'
import type { Json } from '#model/kernel/json.ts'
import { findManifest, type ManifestOnDisk, readManifest } from './folder.ts'

export interface ManifestFlags {
  readonly path?: string
  readonly strict?: boolean
}

const of = (findings: readonly Finding[], level: Level): readonly Finding[] =>
  findings.filter((finding) => finding.level === level)

const isBlocked = ({ findings }: ManifestOnDisk, flags: ManifestFlags): boolean =>
  of(findings, 'error').length > 0 || (flags.strict === true && of(findings, 'warning').length > 0)

const paint = (output: Output, level: Level): string => {
  const { red, yellow, dim } = output.colors
  return { error: red, warning: yellow, info: dim }[level](level)
}

export const printFindings = (output: Output, findings: readonly Finding[], say: (text: string) => void): void => {
  for (const { level, code, message, file, line, column, hint } of findings) {
    say(`${visible(`${file}:${line}:${column}`)} ${paint(output, level)} ${code} ${visible(message)}`)
    say(output.colors.dim(`  ${visible(hint)}`))
  }
}

const counted = (findings: readonly Finding[]): string => {
  const words = [
    [of(findings, 'error').length, 'error'],
    [of(findings, 'warning').length, 'warning'],
    [of(findings, 'info').length, 'note'],
  ] as const
  return words.map(([n, word]) => `${n} ${word}${n === 1 ? '' : 's'}`).join(', ')
}

const load = (flags: ManifestFlags): ManifestOnDisk => readManifest(findManifest(flags.path))

const documentOf = ({ manifest, findings }: ManifestOnDisk): object => ({
  system: manifest === null ? null : ordered(manifest),
  errors: of(findings, 'error'),
  warnings: of(findings, 'warning'),
  infos: of(findings, 'info'),
})

/** The file of a system that is written as code; null: there is a manifest, or no system. */
const codeFileOf = (path: string | undefined): string | null => {
  const given = resolve(path ?? '.')
  const candidates = /\.(ts|js|mjs)$/.test(given)
    ? [given]
    : ['system.ts', 'system.js', 'system.mjs'].map((name) => join(given, name))
  const hasManifest = ['manifest.yaml', 'manifest.yml'].some((name) => existsSync(join(given, name)))
  return hasManifest ? null : (candidates.find((file) => existsSync(file)) ?? null)
}

/** What a system declares, and the text of its functions: the content of its hash. */
const loadedShape = async ({ settings }: Shell, path: string | undefined) => {
  const { loadSystem } = await import('./load-system.ts')
  const { source } = await loadSystem(path, codeFolder(settings))
  return { findings: source.findings ?? [], name: source.name, shape: JSON.parse(shapeOf(source)) as Json }
}

const validateCode = async (shell: Shell, file: string, flags: ManifestFlags): Promise<number> => {
  const { output } = shell
  const { findings, name, shape } = await loadedShape(shell, file)
  if (output.isJson)
    output.document({
      system: shape,
      errors: of(findings, 'error'),
      warnings: of(findings, 'warning'),
      infos: of(findings, 'info'),
    })
  else {
    printFindings(output, findings, (text) => output.line(text))
    output.line(visible(`${name}: ${counted(findings)}`))
  }
  return of(findings, 'error').length > 0 || (flags.strict === true && of(findings, 'warning').length > 0)
    ? EXIT.invalid
    : EXIT.done
}

export const validateManifest: Verb<ManifestFlags> = async (shell, flags) => {
  const { output } = shell
  const code = codeFileOf(flags.path)
  if (code !== null) return validateCode(shell, code, flags)
  const loaded = load(flags)
  if (output.isJson) output.document(documentOf(loaded))
  else {
    printFindings(output, loaded.findings, (text) => output.line(text))
    output.line(
      visible(`${loaded.manifest?.product.name ?? 'the manifest does not load'}: ${counted(loaded.findings)}`),
    )
  }
  return isBlocked(loaded, flags) ? EXIT.invalid : EXIT.done
}

/** Shows a manifest that loads; for one that does not, its findings. */
const show = (
  { output }: Shell,
  flags: ManifestFlags,
  shown: (manifest: Manifest, findings: readonly Finding[]) => { readonly text: string; readonly document: unknown },
): number => {
  const loaded = load(flags)
  const { manifest, findings } = loaded
  if (manifest === null || isBlocked(loaded, flags)) {
    if (output.isJson) output.document(documentOf(loaded))
    else printFindings(output, findings, (text) => output.talk(text))
    return EXIT.invalid
  }
  const { text, document } = shown(manifest, findings)
  if (output.isJson) output.document(document)
  else for (const line of text.trimEnd().split('\n')) output.line(visible(line))
  return EXIT.done
}

export const drawManifest: Verb<ManifestFlags> = async (shell, flags) =>
  show(shell, flags, (manifest, findings) => {
    const graph = graphOf(manifest, findings)
    return { text: mermaidOf(graph), document: graph }
  })

export const typeManifest: Verb<ManifestFlags> = async (shell, flags) =>
  show(shell, flags, (manifest) => {
    const text = declarationsOf(manifest)
    return { text, document: { declarations: text } }
  })

export const printLongForm: Verb<ManifestFlags> = async (shell, flags) =>
  show(shell, flags, (manifest) => ({ text: printManifest(manifest), document: ordered(manifest) }))

export interface DiffFlags {
  readonly old: string
  readonly fresh: string
}

/** The long form of a manifest; null if it does not load, after printing its errors. */
const longForm = (output: Output, path: string): Json | null => {
  const { manifest, findings } = load({ path })
  if (manifest !== null) return JSON.parse(JSON.stringify(ordered(manifest)))
  if (output.isJson) output.document({ findings })
  else printFindings(output, of(findings, 'error'), (text) => output.talk(text))
  return null
}

const lineOf = (output: Output, { path, kind, before, after }: Difference): string => {
  const { red, green, yellow } = output.colors
  const [old, fresh] = [visible(JSON.stringify(before) ?? ''), visible(JSON.stringify(after) ?? '')]
  if (kind === 'added') return green(`+ ${visible(path)}: ${fresh}`)
  return kind === 'removed' ? red(`- ${visible(path)}: ${old}`) : yellow(`~ ${visible(path)}: ${old} -> ${fresh}`)
}

/** Two manifests by their long forms; if one of them is code, both as loaded systems. */
const bothForms = async (shell: Shell, { old, fresh }: DiffFlags): Promise<readonly [Json | null, Json | null]> => {
  if (codeFileOf(old) === null && codeFileOf(fresh) === null)
    return [longForm(shell.output, old), longForm(shell.output, fresh)]
  return [(await loadedShape(shell, old)).shape, (await loadedShape(shell, fresh)).shape]
}

export const diffManifests: Verb<DiffFlags> = async (shell, flags) => {
  const { output } = shell
  const [before, after] = await bothForms(shell, flags)
  if (before === null || after === null) return EXIT.invalid
  const differences = differencesOf(before, after)
  if (output.isJson) output.document({ differences })
  else for (const difference of differences) output.line(lineOf(output, difference))
  if (differences.length === 0) output.talk('No differences.')
  return differences.length === 0 ? EXIT.done : EXIT.no
}
