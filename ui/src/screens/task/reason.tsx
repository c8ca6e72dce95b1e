/** The reason field, with the user's recent reasons as chips. */
import { Textarea } from '@mantine/core'
import { useState } from 'react'
import { focusAtOnce } from '../../parts/focus-at-once.ts'

const KEY = 'trihand-reasons'
const KEPT = 5

const read = (): readonly string[] => {
  try {
    const kept: unknown = JSON.parse(window.localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

/** Adds a reason to the recent ones: newest first, no duplicates. */
export const rememberReason = (reason: string): void => {
  const text = reason.trim()
  if (text === '') return
  const kept = [text, ...read().filter((one) => one !== text)].slice(0, KEPT)
  window.localStorage.setItem(KEY, JSON.stringify(kept))
}

export interface ReasonProps {
  readonly value: string
  readonly change: (reason: string) => void
  readonly label?: string
  readonly required?: boolean
  /** Focuses the field. Default: false. */
  readonly isFirst?: boolean
}

export const Reason = ({ value, change, label = 'Reason', required = false, isFirst = false }: ReasonProps) => {
  const [last] = useState(read)
  return (
    <div>
      <Textarea
        label={label}
        required={required}
        {...(isFirst && { 'data-autofocus': true, ref: focusAtOnce })}
        autosize
        minRows={2}
        value={value}
        onChange={(e) => change(e.currentTarget.value)}
      />
      {last.length > 0 && (
        <fieldset className="chips reasons" aria-label="Recent reasons">
          {last.map((reason) => (
            <button key={reason} type="button" className="chip" onClick={() => change(reason)}>
              {reason}
            </button>
          ))}
        </fieldset>
      )}
    </div>
  )
}
