/**
 * Lanes as Postgres stores and compares them: the text of a lane is part of a btree entry, which holds 2,704 bytes at most.
 *
 * A lane that fits is stored unchanged. In a longer one, every long key of a slot is replaced by its digest. Limits are counted by the
 * keys in their short form, so that a lane which an older program stored with a long key counts against the same slots.
 *
 * postgres-lanes-1  Slots with keys of any length are stored, and two keys share a slot if and only if they are equal.
 */
import { hash } from 'node:crypto'
import { laneOf, readLane, type Slot } from '#model/flow/lane.ts'
import type { NewStream } from '#ports/ledger.ts'

/** In bytes. A lane has up to 17 slots: 8 limits, 8 totals and a turn; with short keys it stays below 2,400 bytes. */
const LONGEST_LANE = 1_000
const LONGEST_KEY = 96
/** No key of the engine begins like this: those begin with a tenant. */
const DIGEST = '*sha256:'

const bytesIn = (text: string): number => Buffer.byteLength(JSON.stringify(text))

/** The length alone shows that most texts are short enough. */
const fits = (text: string, bytes: number): boolean => text.length * 6 <= bytes || bytesIn(text) <= bytes

/** The digest is of the JSON text: UTF-8 would encode all lone surrogates alike. */
const shortKey = (key: string): string =>
  fits(key, LONGEST_KEY) ? key : `${DIGEST}${hash('sha256', JSON.stringify(key), 'base64url')}`

const shortSlots = (slots: readonly Slot[]): readonly Slot[] =>
  slots.map((slot) => ({ ...slot, key: shortKey(slot.key) }))

/** The text of the column `lane`. */
export const storedLane = ({ handler, priority, slots }: Pick<NewStream, 'handler' | 'priority' | 'slots'>): string => {
  const lane = laneOf(handler, priority, slots)
  return fits(lane, LONGEST_LANE) ? lane : laneOf(handler, priority, shortSlots(slots ?? []))
}

/** The form in which lanes are compared, no matter how each of them is stored. */
export const comparableLane = (stored: string): string => {
  if (stored.length <= LONGEST_KEY) return stored
  const { handler, priority, slots } = readLane(stored)
  return slots.every(({ key }) => fits(key, LONGEST_KEY)) ? stored : laneOf(handler, priority, shortSlots(slots))
}
