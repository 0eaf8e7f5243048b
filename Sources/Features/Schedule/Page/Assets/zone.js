// The time zone in which the page shows times. This module doesn't use the DOM.
import { wall } from './time.js'

/**
 * Returns the zone if the browser can compute with it and a server can know it, and null otherwise. A browser may have no name for its zone
 * (`Etc/Unknown`, undefined), or only an offset (`+01:00`).
 */
export function known(zone) {
  if (!/^[A-Za-z][\w+-]*(\/[\w+-]+)*$/.test(zone ?? '') || zone === 'Etc/Unknown') return null
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return zone
  } catch {
    return null
  }
}

/** Returns the zones to choose from. */
export const zones = () => Intl.supportedValuesOf?.('timeZone') ?? []

/** Returns the minutes by which the browser's clock is ahead of UTC. */
export const clockOffset = () => -new Date().getTimezoneOffset()

/** Returns a zone whose clocks show now the same time as a clock `offset` minutes ahead of UTC. */
export function zoneOf(offset, now = Date.now()) {
  // The sign of these names is reversed.
  const fixed = offset % 60 === 0 && known(offset === 0 ? 'UTC' : `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset / 60)}`)
  const second = Math.floor(now / 1000) * 1000
  return fixed || (zones().find(zone => wall(second, zone) - second === offset * 60_000) ?? 'UTC')
}

/** Returns "UTC+5:30". */
export function offsetName(offset) {
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
  return offset === 0 ? 'UTC' : `UTC${offset > 0 ? '+' : '−'}${hours}${minutes ? `:${String(minutes).padStart(2, '0')}` : ''}`
}

/** Returns a zone's name for people. */
export function zoneName(zone) {
  const fixed = /^Etc\/GMT([+-]\d+)$/.exec(zone)
  return fixed ? offsetName(-60 * fixed[1]) : zone.replaceAll('_', ' ')
}
