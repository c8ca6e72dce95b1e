/**
 * How much of a proof by numbers is played: a part in `npm test`, all of it in the stage `many` of `npm run test:chaos`.
 *
 * Owns how tests are told. Which numbers, the tests say themselves.
 */
export const WHOLE = 'TRIHAND_WHOLE'

const isWhole = process.env[WHOLE] === '1'

export const sized = (size: { readonly whole: number; readonly part: number }): number =>
  isWhole ? size.whole : size.part
