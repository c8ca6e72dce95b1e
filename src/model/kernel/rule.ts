/** A compiled rule over named roots. Total: an expression that fails is an answer too. Compiled outside (manifest/expressions/rules.ts). */
import type { Json } from './json.ts'

export type RuleAnswer =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'error'; readonly detail: string }

export type Rule = (roots: { readonly [root: string]: Json }) => RuleAnswer
