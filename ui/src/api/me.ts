/**
 * Who sits here. Where people log in, the server says it; on loopback it cannot know, so the person says it once: a name, and the groups
 * they are in. The browser remembers.
 */
import { useSyncExternalStore } from 'react'
import type { WhoAmI } from './documents.ts'

type Role = WhoAmI['roles'][number]

export interface Me {
  readonly name: string
  readonly groups: string
}

/** What the server says; null: it was not asked yet. */
type Known = WhoAmI | null

interface State {
  /** As the person has said it. */
  readonly said: Me
  readonly known: Known
  /** Whoever decides. */
  readonly me: Me
}

const KEY = 'trihand-me'
const NOBODY: Me = { name: '', groups: '' }
const listeners = new Set<() => void>()

const read = (): Me => {
  try {
    return { ...NOBODY, ...(JSON.parse(window.localStorage.getItem(KEY) ?? '{}') as Partial<Me>) }
  } catch {
    return NOBODY
  }
}

const stateOf = (said: Me, known: Known): State => ({
  said,
  known,
  me: known?.is_login === true ? { name: known.id, groups: known.groups.join(', ') } : said,
})

let current = stateOf(read(), null)

const become = (next: State): void => {
  current = next
  for (const listener of listeners) listener()
}

export const becomeMe = ({ name, groups }: Me): void => {
  const said = { name: name.trim(), groups: groups.trim() }
  window.localStorage.setItem(KEY, JSON.stringify(said))
  become(stateOf(said, current.known))
}

/** Kept as it is while nothing about it changes: questions that name it are not asked again. */
export const learnMe = (known: WhoAmI): void => {
  if (JSON.stringify(known) !== JSON.stringify(current.known)) become(stateOf(current.said, known))
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useMe = (): Me => useSyncExternalStore(subscribe, () => current.me)

/** The login; null where nobody logs in. */
export const useLogin = (): WhoAmI | null =>
  useSyncExternalStore(subscribe, () => (current.known?.is_login === true ? current.known : null))

/** Whether the server would let whoever sits here do what takes this role. It is asked again with each request. */
export const useMay = (role: Role): boolean =>
  useSyncExternalStore(subscribe, () => current.known?.roles.includes(role) === true)

export const isLogin = (): boolean => current.known?.is_login === true

/** As the server reads it on loopback; nothing if nobody is named, or if a login says it. */
export const identityHeaders = (): Readonly<Record<string, string>> =>
  current.said.name === '' || isLogin()
    ? {}
    : {
        'x-trihand-user': encodeURIComponent(current.said.name),
        ...(current.said.groups === '' ? {} : { 'x-trihand-groups': encodeURIComponent(current.said.groups) }),
      }
