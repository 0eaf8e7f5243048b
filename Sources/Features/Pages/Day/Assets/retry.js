// When to try again, and when not to. Without DOM.

/** Twice as long each time, and by chance up to half shorter, so that not everybody comes back at the same moment. */
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

  /** Milliseconds until the next try; not less than the server asked for. */
  next(atLeast = 0) {
    const whole = Math.min(this.#most, this.#first * 2 ** Math.min(this.#tries++, 20))
    return atLeast + whole / 2 + this.#random() * whole / 2
  }

  reset() { this.#tries = 0 }
}

/** Milliseconds between two looks at what others do: so much, and by chance up to as much again. */
const PACE = 3_000

/** When to look at what has changed: soon at what is one's own, now and then at the rest. The last change is always looked at. */
export class Pace {
  #asked = -Infinity
  #due = Infinity
  #random

  constructor(random = Math.random) {
    this.#random = random
  }

  /** In how many milliseconds to look; `null` when that will be done by then. */
  next(now, isOwn) {
    // Everybody hears of it at the same moment; not everybody has to ask then.
    const soon = now + 50 + this.#random() * 250
    const at = isOwn ? soon : Math.max(soon, this.#asked + PACE + this.#random() * PACE)
    if (at >= this.#due) return null
    this.#due = at
    return at - now
  }

  /** It is looked at now. */
  asked(now) {
    this.#asked = now
    this.#due = Infinity
  }
}

/** `Retry-After` in milliseconds, within an hour; 0 when there is none. */
export function retryAfter(value) {
  const seconds = Number.parseInt(value ?? '', 10)
  return seconds > 0 ? Math.min(seconds, 3600) * 1000 : 0
}

/** What the end of a room's WebSocket means: `over`, or `again`; `ask` first why it was refused. */
export function afterClose(code, wasOpen) {
  if (code === 1000) return 'over'
  // A lost connection, or a server that stops; anything else, and whatever never opened, has a reason to be asked for.
  return wasOpen && (code === 1001 || code === 1006 || code === 1012) ? 'again' : 'ask'
}

/** What the answer to a plain GET of the room's address means to who can't get in. */
export function afterRefusal(status) {
  switch (status) {
    case 404: return 'none'
    case 410: return 'over'
    // Not open yet, full, too fast, or no database: the room may let one in later. 426 is the room's own "come in".
    default: return 'again'
  }
}
