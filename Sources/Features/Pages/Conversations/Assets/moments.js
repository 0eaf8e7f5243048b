// Days and hours of messages, by the browser's own zone. Without DOM.

const as = options => {
  const format = new Intl.DateTimeFormat('en-GB', options)
  return instant => format.format(instant)
}
const DAY = 86_400_000
const keyOf = as({ year: 'numeric', month: '2-digit', day: '2-digit' })
const weekday = as({ weekday: 'short' })
const date = as({ day: 'numeric', month: 'short' })
const longDate = as({ weekday: 'long', day: 'numeric', month: 'long' })
const fullDate = as({ day: 'numeric', month: 'long', year: 'numeric' })

/** "09:00". */
export const hour = as({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** Whether two instants are of one day. */
export const isSameDay = (one, other) => keyOf(one) === keyOf(other)

/** "Today", "Yesterday", "Sunday, 22 November", "22 November 2025". */
export function dayTitle(instant, now = Date.now()) {
  if (isSameDay(instant, now)) return 'Today'
  if (isSameDay(instant + DAY, now)) return 'Yesterday'
  return Math.abs(now - instant) < 180 * DAY ? longDate(instant) : fullDate(instant)
}

/** For a list: the hour today, else the day. */
export function shortly(instant, now = Date.now()) {
  if (isSameDay(instant, now)) return hour(instant)
  const age = now - instant
  return age < 6 * DAY ? weekday(instant) : age < 180 * DAY ? date(instant) : fullDate(instant)
}
