/**
 * Keys of a part of the page while it is shown.
 *
 * Owns when they begin to work and what they see: they are there as soon as the part is seen, and each does what the newest drawing says.
 * A key that is pressed at once is never lost, and one of two letters is not forgotten when the part is drawn in between.
 */
import { useLayoutEffect, useRef, useState } from 'react'
import { type KeyBindingMap, type KeyBindingOptions, tinykeys } from 'tinykeys'

/** The names of the keys, and the options, are those of the first time. */
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
