/** Webhooks without authentication, and those whose path is served by another gateway. */
import type { AddFinding } from '#manifest/yaml/finding.ts'
import type { Manifest } from '#manifest/yaml/manifest.ts'
import { isUnsigned } from '#manifest/yaml/source.ts'

export const lintWebhooks = (manifest: Manifest, tell: AddFinding): void => {
  for (const webhook of manifest.webhooks ?? []) {
    const { name, path, emits } = webhook
    if (emits !== undefined && isUnsigned(webhook)) {
      const message = `${name} has no secret, so anyone could send`
      tell({ level: 'warning', code: 'LINT_WEBHOOK_UNSIGNED', message, path: ['webhooks', name] })
    }
    if (typeof path === 'string' && !path.startsWith('/hooks/')) {
      const message = `a gateway must serve ${path}: this server has ${name} at /hooks/${name}`
      tell({ level: 'info', code: 'LINT_WEBHOOK_ELSEWHERE', message, path: ['webhooks', name, 'path'] })
    }
  }
}
