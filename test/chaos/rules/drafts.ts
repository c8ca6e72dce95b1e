/** Two tabs of one person that change one draft. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { type Mark, mergedMark } from '../../../ui/src/screens/task/marks.ts'
import { CASES, proof } from './proof.ts'

const NAMES = ['to', 'subject', 'body'] as const
const word = fc.constantFrom('a', 'b', 'c')
const content = fc.record({ to: word, subject: word, body: word })
const verdict = fc.constantFrom('approve' as const, 'reject' as const, null)
const mark = fc.record({ verdict, content })

type Written = {
  readonly verdict: Mark['verdict']
  readonly content: { readonly [Name in (typeof NAMES)[number]]: string }
}

/** For each part: which tab changed it. Undefined: both did, differently. */
const part = <T>(before: T, mine: T, theirs: T): T | undefined =>
  mine === theirs || theirs === before ? mine : mine === before ? theirs : undefined

const expected = (before: Written, mine: Written, theirs: Written): Written | null => {
  const said = part(before.verdict, mine.verdict, theirs.verdict)
  const parts = NAMES.map(
    (name) => [name, part(before.content[name], mine.content[name], theirs.content[name])] as const,
  )
  if (said === undefined || parts.some(([, one]) => one === undefined)) return null
  return { verdict: said, content: Object.fromEntries(parts) as Written['content'] }
}

export const merging = proof({
  name: 'drafts of two tabs are put together part by part, and where both changed one part the person chooses (13.1.5)',
  rules: { merge: mergedMark },
  prove: ({ merge }) =>
    fc.assert(
      fc.property(mark, mark, mark, (before, mine, theirs) => {
        expect(merge(before, mine, theirs)).toEqual(expected(before, mine, theirs))
      }),
      { ...CASES, numRuns: 1_000 },
    ),
  mutants: [
    { name: 'the last tab that saves a draft wins (13.1.5)', rules: { merge: (_, mine) => mine } },
    { name: 'the draft of another tab wins (13.1.5)', rules: { merge: (_, __, theirs) => theirs } },
    {
      name: 'a part that both tabs changed is settled without the person (13.1.5)',
      rules: { merge: (before, mine, theirs) => mergedMark(before, mine, theirs) ?? mine },
    },
    {
      name: 'a verdict of another tab is lost where contents are put together (13.1.5)',
      rules: {
        merge: (before, mine, theirs) => mergedMark(before, mine, { ...theirs, verdict: before.verdict }),
      },
    },
  ],
})
