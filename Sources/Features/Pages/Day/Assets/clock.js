// The server's clock, known from the Date fields of its answers. Without DOM.

/** How far two clocks drift apart: milliseconds a millisecond. */
const DRIFT = 1e-4

/**
 * A Date field has whole seconds: an answer that was asked for at `sent` and came at `received` says only that the offset
 * between the clocks lies in an interval a good second long. The intervals of several answers have an intersection that
 * shrinks, fastest when the next answer is made just where the middle of it would turn a second.
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
  /** Now, by the server's clock, in milliseconds; by the own one until the first answer. */
  now() { return this.#local() + this.offset }
  get offset() { return (this.#low + this.#high) / 2 }
  /** By how much `now()` may be wrong, either way. */
  get uncertainty() { return this.isKnown ? (this.#high - this.#low) / 2 : Infinity }

  /** Takes in an answer: its Date in milliseconds, and when it was asked for and came, by the own clock. */
  observe(date, sent, received) {
    if (!Number.isFinite(date) || received < sent) return
    const [low, high] = [date - received, date + 1000 - sent]
    this.#roundTrip = received - sent
    const drift = this.isKnown ? Math.abs(received - this.#at) * DRIFT : 0
    const [oldLow, oldHigh] = [this.#low - drift, this.#high + drift]
    const agrees = this.isKnown && low <= oldHigh && high >= oldLow
    // No intersection: one of the clocks was set.
    this.#low = agrees ? Math.max(low, oldLow) : low
    this.#high = agrees ? Math.min(high, oldHigh) : high
    this.#at = received
  }

  /** In how many milliseconds to ask next to learn most: less than a second. */
  get nextProbe() {
    const wait = -(this.now() + this.#roundTrip / 2) % 1000
    return wait < 0 ? wait + 1000 : wait
  }
}
