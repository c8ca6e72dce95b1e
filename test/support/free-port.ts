/**
 * A loopback port that nobody has at the moment of asking.
 *
 * None of those that the system gives to whoever asks for any: between this moment and the next nobody gets it by chance, so a server can be
 * stopped and started again on it. Processes begin at different ones.
 */
import { createServer } from 'node:net'

const [FIRST, COUNT] = [10_000, 20_000]
/** So far from each other that files of one run do not meet. */
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
