/**
 * Who sits here. On loopback the server cannot know, so the person says it once: a name, and the groups they are in. The browser
 * remembers.
 */
import { useSyncExternalStore } from 'react'

export interface Me {
  readonly name: string
  readonly groups: string
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

let current = read()

const me = (): Me => current

export const becomeMe = (next: Me): void => {
  current = { name: next.name.trim(), groups: next.groups.trim() }
  window.localStorage.setItem(KEY, JSON.stringify(current))
  for (const listener of listeners) listener()
}

export const useMe = (): Me =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, me)

/** As the server reads it; nothing if nobody is named. */
export const identityHeaders = (): Readonly<Record<string, string>> =>
  current.name === ''
    ? {}
    : {
        'x-trihand-user': encodeURIComponent(current.name),
        ...(current.groups === '' ? {} : { 'x-trihand-groups': encodeURIComponent(current.groups) }),
      }
