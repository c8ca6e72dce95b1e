/** When single letters are no keys: somebody is writing, or has switched them off. */
import { areKeysOn } from './keys-on.ts'

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

export const areKeysAsleep = (target: EventTarget | null): boolean => isWriting(target) || !areKeysOn()
