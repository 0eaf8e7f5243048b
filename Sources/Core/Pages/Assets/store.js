// What this browser stores.

/** Values that the browser didn't store, without permission or space. They are kept until the page is closed. */
const memory = new Map()
const DAYS_KEPT = 7

function read(key) {
  if (memory.has(key)) return memory.get(key)
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

/** Stores a value; `null` deletes it. Returns whether the browser stored it. */
function write(key, value) {
  try {
    if (value === null) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
    memory.delete(key)
    return true
  } catch {
    memory.set(key, value)
    return false
  }
}

function keys(prefix) {
  let kept = []
  try {
    kept = Object.keys(localStorage)
  } catch { /* Only what is in memory. */ }
  return [...new Set([...kept, ...memory.keys()])].filter(key => key.startsWith(prefix) && read(key) !== null)
}

export const device = { get: () => read('device'), set: value => write('device', value) }

/** The Web Push subscription that the server has. */
export const subscription = { get: () => read('subscription'), set: value => write('subscription', value) }

const placeOf = device => `outbox/${encodeURIComponent(device)}/`

/** Messages that aren't stored at the server yet: one entry each, so that tabs don't overwrite each other's. */
export const outbox = {
  all: device => keys(placeOf(device)).map(read),
  set: (device, id, value) => write(placeOf(device) + id, value),
  clear: () => keys('outbox/').forEach(key => write(key, null)),
}

/** The cache of conversations, for one device. */
export const shelf = {
  get(device) {
    try {
      const kept = JSON.parse(read('shelf'))
      return kept?.device === device ? kept : null
    } catch {
      return null
    }
  },
  set: (device, me, talks) => write('shelf', JSON.stringify({ device, me, talks })),
  clear: () => write('shelf', null),
}

/** The time zone that the person chose, for a browser that doesn't know its own. */
export const zone = { get: () => read('zone'), set: value => write('zone', value) }

/** The ticket for conversations. */
export const ticket = { get: () => read('ticket'), set: value => write('ticket', value) }

/** The messages sent and the offsets read by one device. */
export const clearTalks = () => {
  outbox.clear()
  shelf.clear()
}

/** The last schedules of a few days, each for the time zone of its hours. */
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
