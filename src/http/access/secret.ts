/** Whether two secrets are the same, told in the same time for every wrong one. Owns that one question. */
import { timingSafeEqual } from 'node:crypto'

export const isSameSecret = (a: string, b: string): boolean => {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}
