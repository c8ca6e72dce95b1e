/** The status of a run: an icon and a word, so that colour is not the only difference. */
import {
  Ban,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleStop,
  Hourglass,
  Loader,
  TriangleAlert,
} from 'lucide-react'

const LOOKS = {
  queued: { icon: CircleDashed, tone: 'plain' },
  running: { icon: Loader, tone: 'work' },
  waiting: { icon: Hourglass, tone: 'wait' },
  paused: { icon: CirclePause, tone: 'wait' },
  cancelling: { icon: CircleStop, tone: 'wait' },
  success: { icon: CircleCheck, tone: 'good' },
  partial: { icon: CircleAlert, tone: 'wait' },
  failed: { icon: CircleAlert, tone: 'bad' },
  cancelled: { icon: Ban, tone: 'plain' },
  expired: { icon: Ban, tone: 'bad' },
  quarantined: { icon: TriangleAlert, tone: 'bad' },
} as const

export const STATUSES = Object.keys(LOOKS) as readonly (keyof typeof LOOKS)[]

/** `look` is the run status whose icon to use, for objects that are not runs. */
export const Status = ({ of, look }: { readonly of: string; readonly look?: keyof typeof LOOKS }) => {
  const { icon: Icon, tone } = LOOKS[look ?? (of as keyof typeof LOOKS)] ?? LOOKS.queued
  return (
    <span className="status" data-tone={tone}>
      <Icon size={15} aria-hidden />
      {of}
    </span>
  )
}
