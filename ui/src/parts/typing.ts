/** Decides when a single-letter shortcut is ignored: in a text field, in a dialog, when shortcuts are off, or after `g` (the first key of `g r`). */
import { areKeysOn } from './keys-on.ts'

/** Time limit for the second key of a two-key shortcut. */
export const GO_MS = 2_000
let isGoing = false
let timer: ReturnType<typeof setTimeout> | undefined

const goFor = (ms: number): void => {
  clearTimeout(timer)
  timer = setTimeout(() => {
    isGoing = false
  }, ms)
}

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** While a dialog is open, shortcuts of the page below do not work. */
export const isDialogOpen = (): boolean => document.querySelector('[role=dialog]') !== null

const isAsleep = (target: EventTarget | null): boolean => isWriting(target) || isDialogOpen() || !areKeysOn()

/** Handler for a single-letter shortcut. Does nothing while shortcuts are ignored, or if it is the second key of two. */
export const letter =
  (act: () => unknown) =>
  (event: KeyboardEvent): void => {
    if (isGoing || isAsleep(event.target)) return
    event.preventDefault()
    act()
  }

/** Handler for `g`, the first of two keys. The next key then triggers no other shortcut. */
export const beginToGo = ({ target }: KeyboardEvent): void => {
  if (isAsleep(target)) return
  isGoing = true
  goFor(GO_MS)
}

/** Handler for the second of two keys. Other listeners receive the same event later; they stay off until all have run. */
export const goBy =
  (act: () => unknown) =>
  (event: KeyboardEvent): void => {
    if (isAsleep(event.target)) return
    event.preventDefault()
    goFor(0)
    act()
  }
