/**
 * Sends one POST to an external address and judges the answer: delivered, failed or unwanted.
 *
 * Owns that judgement. The caller passes in the fetch (guarded-fetch.ts), which follows no redirects.
 */
import type { NoticeDelivery } from '#ports/notifier.ts'
import type { ToolFetch, ToolResponse } from '#ports/tool.ts'

export type NoticeFetch = (url: string, init: ToolFetch) => Promise<ToolResponse>

const judge = (status: number): NoticeDelivery => {
  if (status >= 200 && status < 300) return { kind: 'delivered', detail: `${status}` }
  return { kind: status === 410 ? 'unwanted' : 'failed', detail: `${status}` }
}

export const post = async (
  fetch: NoticeFetch,
  url: string,
  init: Omit<ToolFetch, 'method'>,
): Promise<NoticeDelivery> => {
  try {
    return judge((await fetch(url, { ...init, method: 'POST' })).status)
  } catch (error) {
    return { kind: 'failed', detail: error instanceof Error ? error.message : String(error) }
  }
}
