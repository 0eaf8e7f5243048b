// Local times and instants. A day is "2026-11-22", an instant is milliseconds since 1970 in UTC. This module doesn't use the DOM.

const DAY = 86_400_000
const formats = new Map()

const formatOf = zone => {
  if (!formats.has(zone)) {
    formats.set(zone, new Intl.DateTimeFormat('en-US', {
      timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric',
      hour: 'numeric', minute: 'numeric', second: 'numeric',
    }))
  }
  return formats.get(zone)
}

/** Returns the zone's local time at an instant, to the second, as the instant with the same time in UTC. */
export function wall(instant, zone) {
  const part = {}
  for (const { type, value } of formatOf(zone).formatToParts(instant)) part[type] = +value
  return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second)
}

/** Returns the instants with the local time `local`, earliest first: none for a skipped time, two for a repeated one. */
export function instantsOf(local, zone) {
  const offsets = new Set([-DAY, 0, DAY].map(shift => wall(local + shift, zone) - (local + shift)))
  return [...offsets].map(offset => local - offset).filter(instant => wall(instant, zone) === local)
    .sort((a, b) => a - b)
}

/** Returns the day's first instant. Where the clocks skip midnight, it is the moment of the skip. */
export function midnight(day, zone) {
  const local = Date.parse(day)
  return instantsOf(local, zone)[0] ?? local - (wall(local - DAY, zone) - (local - DAY))
}

/** Returns the instant of a schedule's key on a day: "09:00", "09:00:30"; "01:30+1" is the second one of a repeated time. */
export function instantOfKey(key, day, zone) {
  const match = /^(\d\d):(\d\d)(?::(\d\d))?(\+1)?$/.exec(key)
  if (!match) return null
  const [, hours, minutes, seconds = 0, second] = match
  const local = Date.parse(day) + ((+hours * 60 + +minutes) * 60 + +seconds) * 1000
  return instantsOf(local, zone)[second ? 1 : 0] ?? null
}

/** Returns the day's period, from its first instant to the next day's. */
export const spanOf = (day, zone) => ({ from: midnight(day, zone), to: midnight(nextDays(day, 2)[1], zone) })

export const dayOf = (instant, zone) => new Date(wall(instant, zone)).toISOString().slice(0, 10)
export const nextDays = (day, count) =>
  Array.from({ length: count }, (_, index) => new Date(Date.parse(day) + index * DAY).toISOString().slice(0, 10))

/** Returns an instant as the server writes it: "2026-11-22T09:00:00Z". */
export const isoOf = instant => new Date(instant).toISOString().replace('.000', '')

const named = options => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options })
  return day => format.format(Date.parse(day))
}
/** The server's names of the weekdays. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
const MONDAY = Date.UTC(2026, 10, 23)
/** Returns the weekday of a day, by the server's name. */
export const weekdayOf = day => WEEKDAYS[(new Date(Date.parse(day)).getUTCDay() + 6) % 7]
/** Returns "Monday". */
export const weekdayName = name => weekday(new Date(MONDAY + WEEKDAYS.indexOf(name) * DAY).toISOString())
/** Returns "Every weekday" or "Mondays and Fridays". */
export function weekdaysInWords(names) {
  if (names.length === 7) return 'Every day'
  if (names.join() === WEEKDAYS.slice(0, 5).join()) return 'Every weekday'
  const plural = names.map(name => `${weekdayName(name)}s`)
  return plural.length < 2 ? plural.join() : `${plural.slice(0, -1).join(', ')} and ${plural.at(-1)}`
}
export const longDate = named({ weekday: 'long', day: 'numeric', month: 'long' })
export const weekday = named({ weekday: 'long' })
export const shortWeekday = named({ weekday: 'short' })

/** Returns "09:00", with seconds if they aren't zero. */
export function clockFace(instant, zone) {
  const text = new Date(wall(instant, zone)).toISOString().slice(11, 19)
  return text.endsWith(':00') ? text.slice(0, 5) : text
}

/** Returns "in 23 minutes". */
export function inWords(milliseconds) {
  const minutes = Math.ceil(milliseconds / 60_000)
  if (minutes <= 1) return 'in a minute'
  if (minutes < 60) return `in ${minutes} minutes`
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  if (hours >= 24) return hours < 48 ? 'in a day' : `in ${Math.floor(hours / 24)} days`
  return `in ${hours === 1 ? 'an hour' : `${hours} hours`}${rest ? ` and ${rest} minute${rest === 1 ? '' : 's'}` : ''}`
}
