/**
 * Registers keyboard shortcuts while a component is mounted.
 *
 * They work as soon as the component is visible, and call the handlers of the latest render. A re-render between the two keys of a
 * shortcut does not lose the first one.
 */
import { useLayoutEffect, useRef, useState } from 'react'
import { type KeyBindingMap, type KeyBindingOptions, tinykeys } from 'tinykeys'

/** Key names and options are read on the first render only. */
export const useKeys = (keys: KeyBindingMap, options: KeyBindingOptions = {}): void => {
  const newest = useRef(keys)
  useLayoutEffect(() => {
    newest.current = keys
  })
  const [listen] = useState(() => () => {
    const names = Object.keys(keys)
    const bindings = names.map((name) => [name, (event: KeyboardEvent) => newest.current[name]?.(event)])
    return tinykeys(window, Object.fromEntries(bindings), options)
  })
  useLayoutEffect(listen, [listen])
}
