/** The screens in menu order. `key` is the letter after `g` that opens the screen. */
import {
  Activity,
  CalendarClock,
  CircleDollarSign,
  GitBranch,
  Inbox,
  ListTree,
  MessageSquare,
  Server,
  Settings,
  Waypoints,
} from 'lucide-react'

export const SCREENS = [
  { to: '/inbox', label: 'Inbox', icon: Inbox, key: 'i' },
  { to: '/runs', label: 'Runs', icon: ListTree, key: 'r' },
  { to: '/sessions', label: 'Sessions', icon: GitBranch, key: 's' },
  { to: '/graph', label: 'Graph', icon: Waypoints, key: 'g' },
  { to: '/chat', label: 'Chat', icon: MessageSquare, key: 'c' },
  { to: '/schedules', label: 'Schedules', icon: CalendarClock, key: 'h' },
  { to: '/workers', label: 'Workers', icon: Server, key: 'w' },
  { to: '/costs', label: 'Costs', icon: CircleDollarSign, key: 'o' },
  { to: '/events', label: 'Events', icon: Activity, key: 'e' },
  { to: '/settings', label: 'Settings', icon: Settings, key: ',' },
] as const
