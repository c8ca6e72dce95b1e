/**
 * Starts the slowest test files first, so that no core idles while the last one runs.
 *
 * Owns only that; longest-files.ts lists them. All others keep the runner's order, which without records of earlier runs goes by file size.
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
