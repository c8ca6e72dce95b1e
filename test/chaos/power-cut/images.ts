/**
 * Turns a recording into images of a power cut at many moments, and checks each.
 *
 * Owns the walk over the recording. What may survive is disk.ts, how an image is checked is inspect.ts.
 */
import { join } from 'node:path'
import { Random } from '#test/support/random.ts'
import { Disk, FATES, type Fate } from './disk.ts'
import { inspect } from './inspect.ts'
import { chooseCuts, type Recording } from './recording.ts'

export interface JudgedImage {
  readonly fate: Fate
  /** Empty: nothing is wrong with this image. */
  readonly wrong: readonly string[]
}

const GO_ON_EVERY = 10

export const judgeImages = async function* (
  { entries, receipts }: Recording,
  { folder, images, seed }: { readonly folder: string; readonly images: number; readonly seed: number },
): AsyncGenerator<JudgedImage> {
  const random = new Random(seed)
  const disk = new Disk(random.fork())
  let applied = 0
  for (const [index, cut] of chooseCuts(entries, images, random).entries()) {
    for (const entry of entries.slice(applied, cut)) disk.apply(entry)
    applied = cut
    const fate = random.pick(FATES)
    const wrong = await inspect({
      folder: join(folder, 'image'),
      files: disk.image(fate, random),
      receipts: receipts.filter(({ at }) => at < cut).map(({ receipt }) => receipt),
      goOn: index % GO_ON_EVERY === 0 ? random.fork() : null,
    })
    yield { fate, wrong: wrong.map((sentence) => `${sentence} (seed ${seed}, cut ${cut}, ${fate})`) }
  }
}
