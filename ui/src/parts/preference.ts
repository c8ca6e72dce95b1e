/** An on/off setting stored in the browser. Components that use it re-render when it changes. */
import { useSyncExternalStore } from 'react'

export interface Preference {
  isOn(): boolean
  turn(on: boolean): void
  use(): boolean
}

export const preference = (key: string, isOnAtFirst: boolean): Preference => {
  const listeners = new Set<() => void>()
  const isOn = (): boolean => (window.localStorage.getItem(key) ?? (isOnAtFirst ? 'on' : 'off')) === 'on'
  const subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    isOn,
    turn: (on) => {
      window.localStorage.setItem(key, on ? 'on' : 'off')
      for (const listener of listeners) listener()
    },
    use: () => useSyncExternalStore(subscribe, isOn),
  }
}
