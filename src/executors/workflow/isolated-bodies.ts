/**
 * Bodies of steps whose code is in another process: which process knows the body of a step now.
 *
 * Owns the match. A step is tried again in whatever process the function stands in by then, once its code has come to the step.
 */
import type { StepContext } from '#ports/step-gate.ts'

interface Knows {
  readonly isAlive: boolean
  body(call: number, fallback: boolean, context: StepContext): Promise<unknown>
}

interface Offer {
  readonly by: Knows
  readonly call: number
}

export class Bodies {
  private readonly offers = new Map<string, Offer>()
  private readonly waiting = new Map<string, (() => void)[]>()

  offer(step: string, by: Knows, call: number): void {
    this.offers.set(step, { by, call })
    const waiting = this.waiting.get(step) ?? []
    this.waiting.delete(step)
    for (const goOn of waiting) goOn()
  }

  async perform(step: string, fallback: boolean, context: StepContext): Promise<unknown> {
    for (;;) {
      const offer = this.offers.get(step)
      if (offer?.by.isAlive === true) return offer.by.body(offer.call, fallback, context)
      await new Promise<void>((resolve, reject) => {
        this.waiting.set(step, [...(this.waiting.get(step) ?? []), resolve])
        context.signal.addEventListener('abort', () => reject(context.signal.reason), { once: true })
      })
    }
  }
}
