/**
 * The order of test files: the longest first, so that no core stands idle beside the last one.
 *
 * Owns nothing but that: which are long is in longest-files.ts. All others follow as the runner has them: without a memory of earlier runs
 * it goes by their size, which says little where a short file starts a long stage.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { LONGEST } from './longest-files.ts'

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = LONGEST.findIndex((file) => moduleId.endsWith(`/${file}`))
  return place === -1 ? LONGEST.length : place
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((one, other) => placeOf(one) - placeOf(other))
  }
}
