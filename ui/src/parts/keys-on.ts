/** Whether single letters are keys: whoever speaks to the machine, or types by accident, switches them off. The browser remembers. */
import { useSyncExternalStore } from 'react'

const KEY = 'trihand-keys'
const OFF = 'off'
const listeners = new Set<() => void>()

export const areKeysOn = (): boolean => window.localStorage.getItem(KEY) !== OFF

export const switchKeys = (on: boolean): void => {
  if (on) window.localStorage.removeItem(KEY)
  else window.localStorage.setItem(KEY, OFF)
  for (const listener of listeners) listener()
}

export const useKeysOn = (): boolean =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, areKeysOn)
