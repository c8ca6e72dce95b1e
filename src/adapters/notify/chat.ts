/**
 * Notices of tasks in a chat: posts one message to an incoming webhook, in the format of Slack and Teams.
 *
 * Owns the message. The caller passes in the fetch, which allows that address alone.
 */
import type { Notifier } from '#ports/notifier.ts'
import type { NoticeFetch } from './post.ts'
import { post } from './post.ts'
import { textOf, titleOf } from './task-text.ts'

export interface ChatSettings {
  readonly url: string
  readonly publicUrl: string | null
}

export const chatNotifier = ({ url, publicUrl }: ChatSettings, fetch: NoticeFetch): Notifier => ({
  deliverNotice: (event, signal) =>
    post(fetch, url, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: `${titleOf(event)}\n${textOf(event, publicUrl)}` }),
      signal,
    }),
})
