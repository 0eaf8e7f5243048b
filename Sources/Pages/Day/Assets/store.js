// What this browser remembers. Where it is not allowed to, it is remembered until the page goes.

const memory = new Map()
const DAYS_KEPT = 7

function read(key) {
  try {
    return localStorage.getItem(key) ?? memory.get(key) ?? null
  } catch {
    return memory.get(key) ?? null
  }
}

function write(key, value) {
  memory.set(key, value)
  try {
    localStorage.setItem(key, value)
    return true
  } catch {
    return false
  }
}

export const device = { get: () => read('device'), set: value => write('device', value) }

/** The Web Push subscription that the server knows of. */
export const subscription = { get: () => read('subscription'), set: value => write('subscription', value) }

/** What was said in conversations, and isn't stored yet. */
export const outbox = { get: () => read('outbox'), set: value => write('outbox', value) }

/** The last schedules, of a few days: each for the zone whose hours it names. */
export const days = {
  get(day, zone) {
    const kept = this.all()[day]
    return kept?.zone === zone ? kept : null
  },
  set(day, zone, answer, asOf) {
    const kept = Object.entries({ ...this.all(), [day]: { zone, answer, asOf } }).sort(([a], [b]) => b.localeCompare(a))
    write('days', JSON.stringify(Object.fromEntries(kept.slice(0, DAYS_KEPT))))
  },
  clear: () => write('days', '{}'),
  all() {
    try {
      return JSON.parse(read('days') ?? '{}') ?? {}
    } catch {
      return {}
    }
  },
}
