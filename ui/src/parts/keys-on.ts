/** Whether single letters are keys: whoever speaks to the machine, or types by accident, switches them off. */
import { preference } from './preference.ts'

const letters = preference('trihand-keys', true)

export const areKeysOn = letters.isOn
export const switchKeys = letters.turn
export const useKeysOn = letters.use
