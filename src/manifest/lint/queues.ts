/**
 * Finds queues that fill up because no handler processes them.
 *
 * Owns that one finding. Two handlers of one queue are refused when the system is defined (queues.ts).
 */
import type { AddFinding } from '#manifest/yaml/finding.ts'
import { handlersOf, type Manifest, readsQueue } from '#manifest/yaml/manifest.ts'

export const lintQueues = (manifest: Manifest, tell: AddFinding): void => {
  const read = new Set(handlersOf(manifest).map(({ handler }) => readsQueue(handler)))
  for (const { name } of manifest.queues ?? []) {
    if (read.has(name)) continue
    const message = `no function processes the queue ${name}: it fills up`
    tell({ level: 'warning', code: 'LINT_QUEUE_UNREAD', message, path: ['queues', name] })
  }
}
