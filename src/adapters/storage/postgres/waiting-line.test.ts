/** The queue for a connection: first come, first served, without a timeout, and rejected together when no server can be reached. */
import { describe, expect, test } from 'vitest'
import { WaitingLine } from './waiting-line.ts'

const enterMany = (line: WaitingLine, count: number): { readonly heard: string[] } => {
  const heard: string[] = []
  for (let i = 0; i < count; i++) {
    line.enter().then(
      () => heard.push(`in ${i}`),
      (error: unknown) => heard.push(`${i}: ${String(error)}`),
    )
  }
  return { heard }
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('a waiting line', () => {
  test('admits as many as it has places, and the next ones in order of arrival', async () => {
    const line = new WaitingLine(2)
    const { heard } = enterMany(line, 4)
    await settle()
    expect(heard).toEqual(['in 0', 'in 1'])
    line.leave()
    await settle()
    expect(heard).toEqual(['in 0', 'in 1', 'in 2'])
    line.leave()
    await settle()
    expect(heard).toEqual(['in 0', 'in 1', 'in 2', 'in 3'])
  })

  test('rejects all waiters, and admits new ones afterwards', async () => {
    const line = new WaitingLine(1)
    const { heard } = enterMany(line, 3)
    await settle()
    line.disperse('no server')
    line.leave()
    await line.enter()
    await settle()
    expect(heard).toEqual(['in 0', '1: no server', '2: no server'])
  })
})
