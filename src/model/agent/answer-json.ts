/**
 * Finds JSON in a model's answer: the whole text, one fenced block, or one object in the surrounding prose.
 *
 * Owns which text counts. Two candidates count as none, because it is unknown which one was meant.
 */
import { type Json, toJson } from '#model/kernel/json.ts'

const FENCED = /```[^\n`]*\n([\s\S]*?)\n?[ \t]*```/g
const BOM = /^\uFEFF/

const parsed = (text: string): { readonly value: Json } | null => {
  try {
    return { value: toJson(JSON.parse(text)) }
  } catch {
    return null
  }
}

/** The end of the object that begins here; -1: it does not end. */
const endOf = (text: string, start: number): number => {
  let depth = 0
  let isText = false
  for (let at = start; at < text.length; at++) {
    const letter = text[at]
    if (isText) {
      if (letter === '\\') at++
      else if (letter === '"') isText = false
    } else if (letter === '"') isText = true
    else if (letter === '{' || letter === '[') depth++
    else if ((letter === '}' || letter === ']') && --depth === 0) return at + 1
  }
  return -1
}

/** Top-level objects in the prose; stops at the second. */
const objectsIn = (text: string): readonly { readonly value: Json }[] => {
  const found: { readonly value: Json }[] = []
  let from = 0
  while (found.length < 2) {
    const start = text.indexOf('{', from)
    if (start < 0) break
    const end = endOf(text, start)
    const object = end < 0 ? null : parsed(text.slice(start, end))
    if (object !== null) found.push(object)
    // A brace that is never closed: the text after it cannot be told from its content.
    if (end < 0) break
    from = end
  }
  return found
}

/** Null: there is no JSON, or more than one candidate. */
export const jsonIn = (said: string): { readonly value: Json } | null => {
  const text = said.replace(BOM, '').trim()
  const whole = parsed(text)
  if (whole !== null) return whole
  const blocks = [...text.matchAll(FENCED)].flatMap(([, body = '']) => parsed(body.trim()) ?? [])
  const found = blocks.length > 0 ? blocks : objectsIn(text)
  return found.length === 1 ? (found[0] ?? null) : null
}
