/**
 * Storage: a full disk, I/O errors on write and on fsync, and a disk that turns read-only. Nothing acknowledged is lost, and work
 * continues by itself within seconds once the fault has ended (R1, V1, V30).
 *
 * A child works under the shim, which fails on demand. Repeated I/O errors make the ledger read-only until the process starts again
 * (reliability 3.3), so a supervisor restarts it; a full disk must heal without that. The log of each session also gives images
 * of a power cut: a failed sync leaves a gap that no later sync fills.
 */
import { join } from 'node:path'
import { sqliteVersion } from '#test/chaos/census.ts'
import { judgeFile } from '#test/chaos/judge.ts'
import { judgeImages } from '#test/chaos/power-cut/images.ts'
import { readRecording } from '#test/chaos/power-cut/recording.ts'
import { type Fault, StorageFault } from '#test/chaos/power-cut/storage-fault.ts'
import { Supervisor } from '#test/chaos/power-cut/supervisor.ts'
import { fastFolder, PROJECT, temporaryFolder } from '#test/support/places.ts'
import { compileShared } from '#test/support/project/compiler.ts'
import { Random } from '#test/support/random.ts'
import { pause, until } from '#test/support/until.ts'
import { Findings, type StageReport, skipped } from './report.ts'

export interface StorageOptions {
  /** Of each fault. */
  readonly cycles: number
  /** Of a power cut, per session of at most ten cycles. */
  readonly images: number
  readonly seed: number
}

const NAME = 'storage'
const KINDS = ['disk_full', 'write_error', 'sync_error', 'read_only'] as const satisfies readonly Fault[]
const CYCLES_PER_SESSION = 10
const BATCHES_BETWEEN = 20
const MAX_FAULT_MS = 80
const PATIENCE_MS = 1_500
const HEAL_LIMIT_MS = 5_000

interface Session {
  readonly kind: (typeof KINDS)[number]
  readonly supervisor: Supervisor
  readonly fault: StorageFault
  readonly findings: Findings
  readonly random: Random
}

/** True if this many batches are acknowledged within the time. */
const isAtWork = async ({ supervisor }: Session, timeoutMs: number, batches = 1): Promise<boolean> => {
  const wanted = supervisor.acknowledgements + batches
  const reached = until(
    () => supervisor.acknowledgements,
    (now) => now >= wanted,
    { timeoutMs },
  )
  return reached.then(
    () => true,
    () => false,
  )
}

/** From the end of the fault to the next acknowledgement, with one restart if the process does not recover by itself. */
const heal = async (session: Session): Promise<void> => {
  const { kind, supervisor, findings } = session
  const endedAt = performance.now()
  if (supervisor.isOver) {
    supervisor.start()
  } else if (!(await isAtWork(session, PATIENCE_MS))) {
    if (kind === 'disk_full') findings.violation('V30 the full disk had space again and the process did not go on')
    findings.fault('restart')
    await supervisor.kill()
    supervisor.start()
  } else {
    findings.fault('healed_alone')
  }
  const healed = await isAtWork(session, HEAL_LIMIT_MS)
  const ms = Math.round(performance.now() - endedAt)
  if (!healed || ms > HEAL_LIMIT_MS)
    findings.violation(`V30 no progress ${ms} ms after ${kind} ended: ${supervisor.complaint}`)
}

const cycle = async (session: Session, kill: boolean): Promise<void> => {
  const { kind, supervisor, fault, findings, random } = session
  if (!(await isAtWork(session, HEAL_LIMIT_MS, BATCHES_BETWEEN)))
    findings.violation(`V30 no work between faults: ${supervisor.complaint}`)
  const before = fault.fired(kind)
  fault.set(kind)
  await until(
    () => fault.fired(kind) - before,
    (fired) => fired > 0 || supervisor.isOver,
    { what: `${kind} under load` },
  )
  // A ledger that has turned read-only stops using the disk, so the length of a fault is a time and not a count.
  await pause(random.below(MAX_FAULT_MS))
  if (supervisor.isOver) findings.violation(`the process ended by itself during ${kind}: ${supervisor.complaint}`)
  else if (kill) {
    // What a failed commit left in the log may be back for the next process.
    await supervisor.kill()
    findings.fault('killed_during_fault')
  }
  fault.set('none')
  await heal(session)
}

/** A ledger that cannot be written must report that at once, with a code, and not hang. */
const startOnReadOnlyDisk = async (session: Session): Promise<void> => {
  const { supervisor, fault, findings } = session
  await supervisor.kill()
  fault.set('read_only')
  supervisor.start()
  await until(
    () => supervisor.isOver,
    (over) => over,
    { what: 'the end of a process whose disk is read-only' },
  )
  await supervisor.kill()
  fault.set('none')
  findings.checks += 1
  if (!/TrihandError: [A-Z_]+:/.test(supervisor.complaint)) {
    findings.violation(`a read-only disk was answered without a code: ${supervisor.complaint.slice(-300)}`)
  }
  await heal(session)
}

/** Several cycles of one fault on one ledger, then the verdict on its content and on what a power cut would have left. */
const runSession = async (kind: Session['kind'], tools: Tools, options: StorageOptions): Promise<void> => {
  const folder = temporaryFolder('storage')
  const fault = new StorageFault(join(folder.path, 'control'))
  const log = join(folder.path, 'shim.log')
  const { findings } = tools
  const supervisor = new Supervisor({
    shim: tools.shim,
    folder: folder.path,
    fault,
    log,
    seed: options.seed,
  })
  try {
    const session: Session = { kind, supervisor, fault, findings, random: new Random(options.seed) }
    supervisor.start()
    if (!(await isAtWork(session, HEAL_LIMIT_MS))) throw new Error(`the process did not start: ${supervisor.complaint}`)
    if (kind === 'read_only') await startOnReadOnlyDisk(session)
    for (let done = 0; done < options.cycles; done++) await cycle(session, done % 3 === 1)
    await supervisor.kill()
    findings.fault(kind, fault.fired(kind))
    const recording = readRecording(log)
    findings.operations += recording.receipts.length
    const receipts = recording.receipts.map(({ receipt }) => receipt)
    const verdict = await judgeFile(join(folder.path, 'ledger.db'), receipts)
    findings.checks += 1
    for (const sentence of verdict) findings.violation(`${sentence} (${kind}, seed ${options.seed})`)
    for await (const { wrong } of judgeImages(recording, { ...options, folder: tools.folder })) {
      findings.checks += 1
      findings.fault('power_cut')
      for (const sentence of wrong) findings.violation(`${sentence} (after ${kind})`)
    }
    for (const [trouble, times] of supervisor.troubles) findings.fault(trouble, times)
  } finally {
    await supervisor.kill()
    fault.close()
    folder.remove()
  }
}

interface Tools {
  readonly shim: string
  /** For images. */
  readonly folder: string
  readonly findings: Findings
}

export const runStorage = async ({ cycles, images, seed }: StorageOptions): Promise<StageReport> => {
  const folder = fastFolder('images')
  try {
    const shim = join(folder.path, 'shim.so')
    const obstacle = compileShared(join(PROJECT, 'test/chaos/power-cut/shim.c'), shim)
    if (obstacle !== null) return skipped(NAME, 'cc', obstacle)
    const findings = new Findings()
    findings.version('sqlite', sqliteVersion())
    for (const [index, kind] of KINDS.entries()) {
      for (let done = 0; done < cycles; done += CYCLES_PER_SESSION) {
        const part = Math.min(CYCLES_PER_SESSION, cycles - done)
        await runSession(
          kind,
          { shim, folder: folder.path, findings },
          { cycles: part, images, seed: seed + 1_000 * index + done },
        )
      }
    }
    return findings.report(NAME, [...KINDS, 'killed_during_fault', 'power_cut'])
  } finally {
    folder.remove()
  }
}
