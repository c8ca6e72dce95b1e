/** Whether single-letter shortcuts are on. People who use speech input turn them off. */
import { preference } from './preference.ts'

const letters = preference('trihand-keys', true)

export const areKeysOn = letters.isOn
export const switchKeys = letters.turn
export const useKeysOn = letters.use
