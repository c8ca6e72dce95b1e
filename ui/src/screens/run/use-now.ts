/** The time, told again every second while something goes on; it stands still after that. */
import { useEffect, useState } from 'react'

const EVERY_MS = 1_000

export const useNow = (goesOn: boolean): number => {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!goesOn) return
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS)
    return () => clearInterval(timer)
  }, [goesOn])
  return now
}
