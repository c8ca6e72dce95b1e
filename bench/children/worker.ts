/** Child process: a worker that performs due runs and reports on stdout which have started and ended. */
import { createTrihand } from '#compose/assemble.ts'
import { isEnded } from '#model/run/status.ts'
import { dispatcherAsked } from '../dispatcher.ts'
import { benchSystem } from '../system.ts'

const [, , database = '', schema = '', slots = ''] = process.argv
const say = (text: string): void => void process.stdout.write(`${text}\n`)

let current = 0
const system = benchSystem({
  mark: (what, n) => {
    current = n
    say(`${what} ${n} ${performance.timeOrigin + performance.now()}`)
  },
})
const app = await createTrihand({
  system,
  database,
  ...(schema === '' ? {} : { schema }),
  ...(slots === '' ? {} : { slots: Number(slots) }),
  ...dispatcherAsked(),
})
app.subscribe('runs', ({ status }) => {
  if (isEnded(status)) say(`ended ${current}`)
})
say('ready')
