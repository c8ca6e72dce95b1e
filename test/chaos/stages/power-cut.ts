/**
 * Power cut: nothing acknowledged is lost when unsynced writes are lost, half lost or torn (R1, V1).
 *
 * A child writes through the real ledger under the shim and is killed; its log gives images of the disk at any moment, each
 * opened by the real adapter and checked. The control is the same with `synchronous=NORMAL`, which must lose something.
 */
import { join } from 'node:path'
import { sqliteVersion } from '#test/chaos/census.ts'
import { FATES } from '#test/chaos/power-cut/disk.ts'
import { type JudgedImage, judgeImages } from '#test/chaos/power-cut/images.ts'
import { record } from '#test/chaos/power-cut/recording.ts'
import { fastFolder, PROJECT } from '#test/support/places.ts'
import { compileShared } from '#test/support/project/compiler.ts'
import { Findings, type StageReport, skipped } from './report.ts'

export interface PowerCutOptions {
  readonly images: number
  readonly controlImages: number
  readonly seed: number
}

const NAME = 'power cut'
const IMAGES_PER_RECORDING = 100
const APPENDS_PER_RECORDING = 1_200

interface Series {
  readonly shim: string
  readonly folder: string
  readonly durability: 'full' | 'relaxed'
  readonly images: number
  readonly seed: number
}

/** Many short recordings instead of one long: each starts with a new file and has its own mix. */
const judgeSeries = async (
  series: Series,
  appended: (count: number) => void,
  judged: (image: JudgedImage) => void,
): Promise<void> => {
  for (let done = 0; done < series.images; done += IMAGES_PER_RECORDING) {
    const seed = series.seed + done
    const { shim, durability } = series
    const recording = await record(shim, { durability, appends: APPENDS_PER_RECORDING, seed })
    appended(recording.receipts.length)
    const images = Math.min(IMAGES_PER_RECORDING, series.images - done)
    for await (const image of judgeImages(recording, { ...series, images, seed })) judged(image)
  }
}

export const runPowerCut = async ({ images, controlImages, seed }: PowerCutOptions): Promise<StageReport> => {
  const folder = fastFolder('images')
  try {
    const shim = join(folder.path, 'shim.so')
    const obstacle = compileShared(join(PROJECT, 'test/chaos/power-cut/shim.c'), shim)
    if (obstacle !== null) return skipped(NAME, 'cc', obstacle)
    const findings = new Findings()
    findings.version('sqlite', sqliteVersion())
    const series = { shim, folder: folder.path, seed }
    await judgeSeries(
      { ...series, durability: 'full', images },
      (appends) => {
        findings.operations += appends
      },
      ({ fate, wrong }) => {
        findings.checks += 1
        findings.fault(fate)
        for (const sentence of wrong) findings.violation(sentence)
      },
    )
    let lostIn = 0
    const count = ({ wrong }: JudgedImage): void => {
      if (wrong.some((sentence) => sentence.startsWith('V1 lost'))) lostIn += 1
    }
    await judgeSeries({ ...series, durability: 'relaxed', images: controlImages }, () => {}, count)
    return findings.report(NAME, FATES, [
      { name: 'power-cut-normal', must: 'lose', lost_in: lostIn, of: controlImages },
    ])
  } finally {
    folder.remove()
  }
}
