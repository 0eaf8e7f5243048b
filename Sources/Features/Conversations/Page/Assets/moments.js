// Days and times of messages in the browser's time zone. This module doesn't use the DOM.

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

/** Returns a time such as "09:00". */
export const hour = as({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** Returns whether two instants are on the same day. */
export const isSameDay = (one, other) => keyOf(one) === keyOf(other)

/** Returns "Today", "Yesterday", "Sunday, 22 November" or "22 November 2025". */
export function dayTitle(instant, now = Date.now()) {
  if (isSameDay(instant, now)) return 'Today'
  if (isSameDay(instant + DAY, now)) return 'Yesterday'
  return Math.abs(now - instant) < 180 * DAY ? longDate(instant) : fullDate(instant)
}

/** Returns the time if the instant is today, otherwise the day. */
export function shortly(instant, now = Date.now()) {
  if (isSameDay(instant, now)) return hour(instant)
  const age = now - instant
  return age < 6 * DAY ? weekday(instant) : age < 180 * DAY ? date(instant) : fullDate(instant)
}
