/**
 * How much of a test with large numbers is run: a part in `npm test`, all of it in the stage `many` of `npm run test:chaos`.
 *
 * Owns how tests learn that. The numbers are in the tests.
 */
export const WHOLE = 'TRIHAND_WHOLE'

const isWhole = process.env[WHOLE] === '1'

export const sized = (size: { readonly whole: number; readonly part: number }): number =>
  isWhole ? size.whole : size.part
