/**
 * Returns a loopback port that is free when asked.
 *
 * It is outside the range from which the system assigns ports, so no other process gets it by chance before it is used, and a server can be
 * stopped and restarted on it. Each process starts at another port.
 */
import { createServer } from 'node:net'

const [FIRST, COUNT] = [10_000, 20_000]
/** The distance between processes, so that test files of one run do not collide. */
const APART = 97

let turn = (process.pid * APART) % COUNT

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

export const freePort = async (): Promise<number> => {
  for (;;) {
    turn = (turn + 1) % COUNT
    if (await isFree(FIRST + turn)) return FIRST + turn
  }
}
