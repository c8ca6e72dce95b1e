/** Those who wait for a connection: in order, without a limit of time, and sent away together when there is none to be had. */
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

describe('a line for two places', () => {
  test('admits two, and the next ones in the order in which they came', async () => {
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

  test('sends away all who wait, and takes new ones afterwards', async () => {
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
