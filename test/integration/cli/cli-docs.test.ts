/** docs/cli.md and the command agree: each verb is documented once, each documented flag exists, and nothing is repeated. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from '#cli/verbs.ts'
import { PROJECT } from '#test/support/places.ts'

const PAGE = readFileSync(join(PROJECT, 'docs/cli.md'), 'utf8')
const quiet = { isTTY: false, write: () => {} }
const program = createProgram(async () => {}, { stdout: quiet, stderr: quiet })

/** Verbs by their full name: `runs list`. */
const verbsOf = (command: Command, words: readonly string[] = []): readonly (readonly [string, Command])[] =>
  command.commands.flatMap((inner) => {
    const name = [...words, inner.name()]
    return inner.commands.length === 0 ? [[name.join(' '), inner] as const] : verbsOf(inner, name)
  })

const commands = new Map(verbsOf(program))

interface Line {
  readonly verbs: readonly string[]
  readonly text: string
}

/** A continued line belongs to the one before it. */
const lines = (/```\n([\s\S]*?)```/.exec(PAGE)?.[1] ?? '')
  .replaceAll(/\n +# /g, ' ')
  .trim()
  .split('\n')
  .map((text): Line => {
    const [, first = '', second = ''] = /^npx trihand (\S+) ?(\S*)/.exec(text) ?? []
    const isGroup = program.commands.find((command) => command.name() === first)?.commands.length !== 0
    const names = isGroup ? second.split('|').map((name) => `${first} ${name}`) : [first]
    return { verbs: names, text }
  })

/** This many equal words in a row count as a repetition. */
const SAME_WORDS = 6

const counted = (texts: readonly string[]): readonly string[] =>
  texts.filter((text, index) => texts.indexOf(text) !== index)

test('docs/cli.md lists every verb once, and no other (15.5.3)', () => {
  const listed = lines.flatMap(({ verbs }) => verbs)
  expect(counted(listed)).toEqual([])
  expect([...listed].sort()).toEqual([...commands.keys()].sort())
})

test('each flag that docs/cli.md shows for a verb exists (15.5.3)', () => {
  const unknown = lines.flatMap(({ verbs, text }) => {
    const known = new Set(
      verbs.flatMap((verb) => commands.get(verb)?.options.map(({ long, short }) => long ?? short) ?? []),
    )
    return [...text.matchAll(/(?<=[\s[|`])--[a-z-]+/g)].flatMap(([flag]) =>
      known.has(flag) ? [] : [`${verbs[0]} ${flag}`],
    )
  })
  expect(unknown).toEqual([])
})

test('docs/cli.md repeats nothing (15.5.3)', () => {
  const outside = PAGE.replace(/```[\s\S]*?```/g, '')
  const rows = outside.split('\n').flatMap((line) => /^\| (`[^|]*`) \|/.exec(line)?.[1] ?? [])
  expect(counted(rows)).toEqual([])
  const prose = outside.split('\n').filter((line) => line.length > 30 && !line.startsWith('|'))
  expect(counted(prose)).toEqual([])
  const words = prose.join(' ').split(/\s+/)
  expect(words.length).toBeGreaterThan(500)
  const phrases = words.slice(SAME_WORDS - 1).map((_, at) => words.slice(at, at + SAME_WORDS).join(' '))
  expect(counted(phrases)).toEqual([])
})
