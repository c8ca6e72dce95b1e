/** Compares two secrets in constant time for every wrong one of the same length. */
import { timingSafeEqual } from 'node:crypto'

export const isSameSecret = (a: string, b: string): boolean => {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}
