/** Exports costs as CSV. An unknown price is an empty cell, never zero. */
import type { CostRow } from '../../api/documents.ts'

const COLUMNS = [
  'day',
  'agent',
  'model',
  'simulated',
  'calls',
  'input_tokens',
  'output_tokens',
  'cost_usd',
  'unpriced_calls',
  'unpriced_tokens',
  'failed_calls',
  'unverified_usd',
] as const satisfies readonly (keyof CostRow)[]

/** Escapes a cell. A leading quote stops a spreadsheet from running it as a formula. */
const cell = (value: string | number | boolean | null): string => {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const plain = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

export const csvOf = (rows: readonly CostRow[]): string =>
  [COLUMNS.join(','), ...rows.map((row) => COLUMNS.map((name) => cell(row[name])).join(','))].join('\r\n')
