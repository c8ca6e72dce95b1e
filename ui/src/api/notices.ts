/**
 * Desktop notifications for new tasks: one per task, sent by the tab that owns the live connection.
 *
 * Off until the user turns them on. A notification contains only the title of the task.
 */
import { preference } from '../parts/preference.ts'
import { getJson, mountPath } from './client.ts'
import type { Page, TaskSummary } from './documents.ts'
import { live } from './live.ts'
import { identityHeaders, isLogin } from './me.ts'

const COALESCE_MS = 500
const MOST_AT_ONCE = 3

const wanted = preference('trihand-notices', false)

/** Ids of the tasks already seen. Null: not loaded yet. */
let known: Set<string> | null = null
let timer: ReturnType<typeof setTimeout> | undefined

const canTell = (): boolean =>
  wanted.isOn() && live.isOwner && 'Notification' in window && Notification.permission === 'granted'

const isSomebody = (): boolean => isLogin() || Object.keys(identityHeaders()).length > 0

const tell = ({ id, title }: TaskSummary): void => {
  const notice = new Notification('New task for you', { body: title, tag: id })
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
  // The page itself shows that the server does not respond.
  timer = setTimeout(() => void look().catch(() => undefined), COALESCE_MS)
}

export const useNotices = wanted.use

/** Asks the browser for permission. Returns false if the user or the browser denies it. */
export const switchNotices = async (on: boolean): Promise<boolean> => {
  const mayTell = !on || ('Notification' in window && (await Notification.requestPermission()) === 'granted')
  wanted.turn(on && mayTell)
  lookSoon()
  return mayTell
}

export const notifyOfTasks = (): void =>
  void live.subscribe(({ topic }) => {
    if (topic === 'tasks' || topic === '*') lookSoon()
  })
