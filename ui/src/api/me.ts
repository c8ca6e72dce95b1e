/**
 * The current user.
 *
 * With a login the server knows the user. On loopback there is no login: the user types a name and groups once, and the browser stores them.
 */
import { useSyncExternalStore } from 'react'
import type { WhoAmI } from './documents.ts'

type Role = WhoAmI['roles'][number]

export interface Me {
  readonly name: string
  readonly groups: string
}

/** The server's answer. Null: not loaded yet. */
type Known = WhoAmI | null

interface State {
  /** What the user typed. */
  readonly said: Me
  readonly known: Known
  /** The user in effect: the login if there is one, else what the user typed. */
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

/** Keeps the old object if nothing changed, so that queries with the user in their key are not refetched. */
export const learnMe = (known: WhoAmI): void => {
  if (JSON.stringify(known) !== JSON.stringify(current.known)) become(stateOf(current.said, known))
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useMe = (): Me => useSyncExternalStore(subscribe, () => current.me)

/** The login. Null on loopback. */
export const useLogin = (): WhoAmI | null =>
  useSyncExternalStore(subscribe, () => (current.known?.is_login === true ? current.known : null))

/** Whether the current user has this role. The server checks again on every request. */
export const useMay = (role: Role): boolean =>
  useSyncExternalStore(subscribe, () => current.known?.roles.includes(role) === true)

export const isLogin = (): boolean => current.known?.is_login === true

/** Headers that name the user on loopback. Empty with a login or without a name. */
export const identityHeaders = (): Readonly<Record<string, string>> =>
  current.said.name === '' || isLogin()
    ? {}
    : {
        'x-trihand-user': encodeURIComponent(current.said.name),
        ...(current.said.groups === '' ? {} : { 'x-trihand-groups': encodeURIComponent(current.said.groups) }),
      }
