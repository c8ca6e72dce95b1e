/** A form at a terminal: the questions, repeated questions, and the resulting value. */
import { expect, test } from 'vitest'
import type { TaskDetail } from '#http/openapi/api.ts'
import { fieldsOf } from '#model/kernel/form-fields.ts'
import { askForm, begun } from './form.ts'

const FIELDS =
  fieldsOf({
    type: 'object',
    properties: {
      amount: { type: 'number', minimum: 1, maximum: 9, description: 'In euros' },
      level: { enum: ['low', 'high'] },
      due: { type: 'string', format: 'date' },
      urgent: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' } },
      owner: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    },
    required: ['amount', 'due', 'urgent', 'owner'],
  }) ?? []

const typing = (...given: readonly (string | null)[]) => typingInto(FIELDS, ...given)

const typingInto = (fields: typeof FIELDS, ...given: readonly (string | null)[]) => {
  const [asked, said, left] = [[] as string[], [] as string[], [...given]]
  const form = askForm(
    fields,
    async (prompt) => {
      asked.push(prompt)
      return left.shift() ?? null
    },
    (text) => said.push(text),
  )
  return { form, asked, said }
}

test('[C3] a field is asked until its answer is valid, and the answers form the value that the schema describes (13.1.4)', async () => {
  const wrong = ['0', 'much'] as const
  const { form, asked, said } = typing(
    ...[...wrong, '5', 'middle', 'high', '2026-02-30', '2026-02-28', '', 'perhaps', 'yes', 'a', 'b', '', '', 'Bea'],
  )
  expect(await form).toEqual({
    ...{ amount: 5, level: 'high', due: '2026-02-28', urgent: true, tags: ['a', 'b'], owner: { name: 'Bea' } },
  })
  expect(asked[0]).toBe('amount (number, 1 to 9). In euros: ')
  expect(asked[3]).toBe('level (one of low, high, or empty): ')
  expect(said).toEqual([
    'amount must be at least 1',
    'amount is not a number',
    'level is not one of low, high',
    'due is not a date, like 2026-01-31',
    'urgent must be yes or no',
    'urgent must be yes or no',
    'owner › name is required',
  ])
})

test('[C3] a person who cancels has given no answer', async () => {
  expect(await typing('5', null).form).toBeNull()
  expect(await typing('5', 'low', '2026-02-28', 'no', 'a', null).form).toBeNull()
})

test('[C3] an optional field is left out if nothing is typed', async () => {
  expect(await typing('5', '', '2026-02-28', 'no', '', 'Bea').form).toEqual({
    ...{ amount: 5, due: '2026-02-28', urgent: false, owner: { name: 'Bea' } },
  })
})

test('[C3] a list of objects is asked row by row, an empty answer takes the default, and a field that another answer requires is asked again (13.1.4)', async () => {
  const fields =
    fieldsOf({
      type: 'object',
      properties: {
        lines: {
          type: 'array',
          items: {
            type: 'object',
            properties: { article: { type: 'string' }, pieces: { type: 'integer', default: 1 } },
            required: ['article', 'pieces'],
          },
        },
        channels: { type: 'array', items: { enum: ['mail', 'phone'] } },
        contact: {
          type: 'object',
          properties: { name: { type: 'string' }, mail: { type: 'string', format: 'email' } },
          required: ['name'],
        },
      },
      required: ['lines'],
    }) ?? []
  const { form, asked, said } = typingInto(
    fields,
    ...['y', 'Tea', '', 'perhaps', 'yes', 'Milk', '3', 'n', 'fax', '', 'mail', '', '', 'bea@example.com', 'Bea'],
  )
  expect(await form).toEqual({
    lines: [
      { article: 'Tea', pieces: 1 },
      { article: 'Milk', pieces: 3 },
    ],
    channels: ['mail'],
    contact: { name: 'Bea', mail: 'bea@example.com' },
  })
  expect(asked).toContain('pieces (whole number, or empty for 1): ')
  expect(asked).toContain('channels (any of mail, phone; one on each line, an empty line ends the list, or empty): ')
  expect(said).toEqual([
    'Answer yes or no',
    'channels in line 1 is not one of mail, phone',
    'contact › name is required',
  ])
})

test('[C17] an empty answer takes the value that was typed on the page (13.1.5)', async () => {
  const draft = { item: null, content: { forms: { respond: { amount: '7', urgent: false, 'owner.name': 'Bea' } } } }
  const task = { drafts: [draft] } as unknown as TaskDetail
  const { form, asked } = typingInto(begun(FIELDS, task, 'respond'), '', '', '2026-02-28', '', '', '')
  expect(await form).toEqual({ amount: 7, due: '2026-02-28', urgent: false, owner: { name: 'Bea' } })
  expect(asked[0]).toBe('amount (number, 1 to 9, or empty for 7). In euros: ')
  expect(begun(FIELDS, task, 'reject')).toEqual(FIELDS)
})
