// The server's clock, known from the Date fields of its answers. This module doesn't use the DOM.

/** The drift between two clocks, in milliseconds per millisecond. */
const DRIFT = 1e-4

/**
 * A Date field has whole seconds. An answer to a request sent at `sent` and received at `received` therefore shows only that the
 * offset between the clocks is in an interval a little longer than a second. The intervals of several answers have a smaller
 * intersection. It shrinks fastest if the server answers when its middle would reach a full second.
 */
export class ServerClock {
  #local
  #low = 0
  #high = 0
  #at = null
  #roundTrip = 0

  constructor(local = Date.now) {
    this.#local = local
  }

  get isKnown() { return this.#at !== null }
  /** The server's time in milliseconds; the local time until the first answer. */
  now() { return this.#local() + this.offset }
  get offset() { return (this.#low + this.#high) / 2 }
  /** The largest possible error of `now()`, in either direction. */
  get uncertainty() { return this.isKnown ? (this.#high - this.#low) / 2 : Infinity }

  /** Adds an answer: its Date in milliseconds, and the local times of the request and the answer. */
  observe(date, sent, received) {
    if (!Number.isFinite(date) || received < sent) return
    const [low, high] = [date - received, date + 1000 - sent]
    this.#roundTrip = received - sent
    const drift = this.isKnown ? Math.abs(received - this.#at) * DRIFT : 0
    const [oldLow, oldHigh] = [this.#low - drift, this.#high + drift]
    const agrees = this.isKnown && low <= oldHigh && high >= oldLow
    // Without an intersection one of the clocks was set.
    this.#low = agrees ? Math.max(low, oldLow) : low
    this.#high = agrees ? Math.min(high, oldHigh) : high
    this.#at = received
  }

  /** In how many milliseconds the next request is most useful: less than a second. */
  get nextProbe() {
    const wait = -(this.now() + this.#roundTrip / 2) % 1000
    return wait < 0 ? wait + 1000 : wait
  }
}
