/** A compiled rule over named roots. Total: a failing expression gives an answer of kind `error`. The compiler is manifest/expressions/rules.ts. */
import type { Json } from './json.ts'

export type RuleAnswer =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'error'; readonly detail: string }

export type Rule = (roots: { readonly [root: string]: Json }) => RuleAnswer
