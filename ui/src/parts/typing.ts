/** When single letters are no keys: somebody is writing or in a dialog, has switched them off, or is about to go to another screen (`g` and a letter). */
import { areKeysOn } from './keys-on.ts'

/** So long the second letter may take. */
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

/** What is under a dialog hears no key: what is typed is meant for the dialog. */
export const isDialogOpen = (): boolean => document.querySelector('[role=dialog]') !== null

const isAsleep = (target: EventTarget | null): boolean => isWriting(target) || isDialogOpen() || !areKeysOn()

/** What a single letter does, unless it is asleep or the second of two. */
export const letter =
  (act: () => unknown) =>
  (event: KeyboardEvent): void => {
    if (isGoing || isAsleep(event.target)) return
    event.preventDefault()
    act()
  }

/** The first of two letters: the second does nothing else. */
export const beginToGo = ({ target }: KeyboardEvent): void => {
  if (isAsleep(target)) return
  isGoing = true
  goFor(GO_MS)
}

/** The second of two letters. Others hear it too, some of them after this: they sleep until all have heard it. */
export const goBy =
  (act: () => unknown) =>
  (event: KeyboardEvent): void => {
    if (isAsleep(event.target)) return
    event.preventDefault()
    goFor(0)
    act()
  }
