/**
 * Questions and answers at a terminal, several in a row.
 *
 * Owns stdin while it lasts: one reader for all questions, so that lines typed or pasted ahead reach the next question.
 */
import { createInterface } from 'node:readline'

/** Null: the input ended, or the person cancelled. */
export type Ask = (prompt: string) => Promise<string | null>

export const converse = async <Result>(body: (ask: Ask) => Promise<Result>): Promise<Result> => {
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  const ahead: string[] = []
  let isOver = false
  let waiting: ((line: string | null) => void) | null = null
  const answer = (line: string | null): void => {
    const resolve = waiting
    waiting = null
    resolve?.(line)
  }
  reader.on('line', (line) => {
    if (waiting === null) ahead.push(line)
    else answer(line)
  })
  reader.on('close', () => {
    isOver = true
    answer(null)
  })
  try {
    return await body((prompt) => {
      reader.setPrompt(prompt)
      if (!isOver) reader.prompt()
      const line = ahead.shift()
      if (line !== undefined || isOver) return Promise.resolve(line ?? null)
      return new Promise((resolve) => {
        waiting = resolve
      })
    })
  } finally {
    reader.close()
  }
}
