/**
 * A word of the browser when a task has come for whoever sits here: once for each task, from the one tab that has the connection.
 *
 * Owns which tasks are new. Off until the person switches it on; it says no more than the title.
 */
import { preference } from '../parts/preference.ts'
import { getJson, mountPath } from './client.ts'
import type { Page, TaskSummary } from './documents.ts'
import { live } from './live.ts'
import { identityHeaders, isLogin } from './me.ts'

const COALESCE_MS = 500
const MOST_AT_ONCE = 3

const wanted = preference('trihand-notices', false)

/** What was there already; null: nobody has looked yet. */
let known: Set<string> | null = null
let timer: ReturnType<typeof setTimeout> | undefined

const canTell = (): boolean =>
  wanted.isOn() && live.isOwner && 'Notification' in window && Notification.permission === 'granted'

const isSomebody = (): boolean => isLogin() || Object.keys(identityHeaders()).length > 0

const tell = ({ id, title }: TaskSummary): void => {
  const notice = new Notification('A task waits for you', { body: title, tag: id })
  notice.onclick = () => {
    window.focus()
    window.location.assign(`${mountPath()}/inbox?view=mine&task=${id}`)
  }
}

const look = async (): Promise<void> => {
  if (!canTell() || !isSomebody()) {
    known = null
    return
  }
  const { items } = await getJson<Page<TaskSummary>>('/api/tasks?limit=50')
  const before = known
  known = new Set([...(before ?? []), ...items.map(({ id }) => id)])
  if (before === null) return
  for (const task of items.filter(({ id }) => !before.has(id)).slice(0, MOST_AT_ONCE)) tell(task)
}

const lookSoon = (): void => {
  clearTimeout(timer)
  // A server that is away is told by the page itself.
  timer = setTimeout(() => void look().catch(() => undefined), COALESCE_MS)
}

export const useNotices = wanted.use

/** Asks the browser first; answers whether it lets us. */
export const switchNotices = async (on: boolean): Promise<boolean> => {
  const mayTell = !on || ('Notification' in window && (await Notification.requestPermission()) === 'granted')
  wanted.turn(on && mayTell)
  lookSoon()
  return mayTell
}

export const tellOfTasks = (): void =>
  void live.subscribe(({ topic }) => {
    if (topic === 'tasks' || topic === '*') lookSoon()
  })
