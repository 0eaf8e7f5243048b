// When to try again, and when not to. This module doesn't use the DOM.

/** Delays that double each time, and are randomly up to half shorter, so that clients don't all reconnect at the same moment. */
export class Backoff {
  #tries = 0
  #first
  #most
  #random

  constructor({ first = 500, most = 30_000, random = Math.random } = {}) {
    this.#first = first
    this.#most = most
    this.#random = random
  }

  /** Milliseconds until the next attempt; at least as many as the server asked for. */
  next(atLeast = 0) {
    const whole = Math.min(this.#most, this.#first * 2 ** Math.min(this.#tries++, 20))
    return atLeast + whole / 2 + this.#random() * whole / 2
  }

  reset() { this.#tries = 0 }
}

/** Milliseconds between two reads of others' changes: between this value and twice as much, at random. */
const PACE = 3_000

/** When to read what has changed: soon for the user's own changes, from time to time for others. The last change is always read. */
export class Pace {
  #asked = -Infinity
  #due = Infinity
  #random

  constructor(random = Math.random) {
    this.#random = random
  }

  /** Milliseconds until the next read; `null` if it is already planned. */
  next(now, isOwn) {
    // All clients get the change at the same moment, but shouldn't all send a request then.
    const soon = now + 50 + this.#random() * 250
    const at = isOwn ? soon : Math.max(soon, this.#asked + PACE + this.#random() * PACE)
    if (at >= this.#due) return null
    this.#due = at
    return at - now
  }

  /** The state is being read now. */
  asked(now) {
    this.#asked = now
    this.#due = Infinity
  }
}

/** Returns `Retry-After` in milliseconds, at most an hour; 0 if there is none. */
export function retryAfter(value) {
  const seconds = Number.parseInt(value ?? '', 10)
  return seconds > 0 ? Math.min(seconds, 3600) * 1000 : 0
}

/** Returns what the end of a room's WebSocket means: `over`, `again`, or `ask` to find out why it was refused. */
export function afterClose(code, wasOpen) {
  if (code === 1000) return 'over'
  // After a lost connection or a stopped server, reconnect. Any other end, and a connection that never opened, has a reason that the server can give.
  return wasOpen && (code === 1001 || code === 1006 || code === 1012) ? 'again' : 'ask'
}

/** Returns what the answer to a plain GET of the room's address means for a refused user. */
export function afterRefusal(status) {
  switch (status) {
    case 404: return 'none'
    case 410: return 'over'
    // Not open yet, full, too fast, or no database: the room may open later. With 426 the WebSocket is allowed.
    default: return 'again'
  }
}
