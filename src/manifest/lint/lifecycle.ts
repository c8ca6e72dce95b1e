/** Lifecycle events that are never emitted: an unknown name, or the work of a modality that the system does not have. */
import type { AddFinding } from '#manifest/yaml/finding.ts'
import type { Manifest } from '#manifest/yaml/manifest.ts'
import { LIFECYCLE, reportedModality } from '#model/event/lifecycle.ts'
import { nearest } from '#model/kernel/nearest.ts'
import type { Traffic } from './traffic.ts'

const problemOf = (manifest: Manifest, type: string): string | null => {
  const hand = reportedModality(type)
  if (hand === null) return null
  if (!LIFECYCLE[hand].includes(type)) {
    const near = nearest(type, LIFECYCLE[hand])
    return `${type} is never sent: ${near === null ? `expected ${LIFECYCLE[hand].join(', ')}` : `did you mean ${near}?`}`
  }
  return hand === 'agent' && (manifest.agents ?? []).length === 0
    ? `${type} has a listener, but no agent sends it`
    : null
}

export const lintLifecycle = (manifest: Manifest, { heardAt }: Traffic, tell: AddFinding): void => {
  for (const [type, path] of heardAt) {
    const message = problemOf(manifest, type)
    if (message !== null) tell({ level: 'warning', code: 'LINT_EVENT_UNPRODUCED', message, path })
  }
}
