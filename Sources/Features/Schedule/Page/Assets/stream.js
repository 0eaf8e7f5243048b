// The device's event stream, while the page is open.
import { EventStreamDecoder } from './events.js'
import { Backoff, retryAfter } from './retry.js'
import { isoOf } from './time.js'

/** The server sends something every 15 seconds. A connection that is silent for longer than this is dead. */
const SILENCE = 40_000

export class Stream {
  #api
  #device
  #handlers
  #lastId = ''
  #backoff = new Backoff()
  #abort = null
  #wake = null
  #isStopped = false
  #span
  #openSpan = null
  #turning
  #hasTurned = false

  /** `span` has the instants `from` and `to` of the wanted changes; `handlers` has `live()`, `lost()`, `event(name, data)` and `beat()`, called for each sign of life and each attempt. */
  constructor(api, device, handlers, span) {
    this.#span = span
    this.#api = api
    this.#device = device
    this.#handlers = handlers
    addEventListener('online', () => this.#wake?.())
    addEventListener('offline', () => this.#abort?.abort())
  }

  async run() {
    while (!this.#isStopped) {
      const atLeast = await this.#follow().catch(() => 0)
      if (this.#isStopped) return
      if (this.#hasTurned) {
        this.#hasTurned = false
        continue
      }
      this.#handlers.lost()
      await new Promise(done => {
        this.#wake = done
        setTimeout(done, this.#backoff.next(atLeast))
      })
    }
  }

  /** Continues with another period, after a moment: people browse through days, and at midnight all pages change. */
  show(span) {
    this.#span = span
    clearTimeout(this.#turning)
    this.#turning = setTimeout(() => {
      const open = this.#openSpan
      if (!open || open.from === this.#span.from && open.to === this.#span.to) return
      this.#hasTurned = true
      this.#abort.abort()
    }, 300 + Math.random() * 1_200)
  }

  /** Ends the run for good. */
  stop() {
    this.#isStopped = true
    clearTimeout(this.#turning)
    this.#abort?.abort()
    this.#wake?.()
  }

  /** Reads until the connection ends. Returns the milliseconds that the server wants before the next attempt. */
  async #follow() {
    const abort = this.#abort = new AbortController()
    let timer
    const alive = () => {
      clearTimeout(timer)
      timer = setTimeout(() => abort.abort(), SILENCE)
      this.#handlers.beat()
    }
    alive()
    const { from, to } = this.#openSpan = this.#span
    try {
      const query = new URLSearchParams({ deviceId: this.#device, from: isoOf(from), to: isoOf(to) })
      const response = await this.#api.ask(`/reminders?${query}`, {
        signal: abort.signal, headers: this.#lastId ? { 'Last-Event-ID': this.#lastId } : {},
      })
      if (!response.ok) return retryAfter(response.headers.get('Retry-After'))
      const decoder = new EventStreamDecoder()
      decoder.lastId = this.#lastId
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      for (let isFirst = true; ; isFirst = false) {
        const { value, done } = await reader.read()
        if (done) return 0
        alive()
        if (isFirst) {
          this.#backoff.reset()
          this.#handlers.live()
        }
        for (const { event, data } of decoder.decode(value)) this.#handlers.event(event, data)
        this.#lastId = decoder.lastId
      }
    } finally {
      clearTimeout(timer)
      this.#openSpan = null
      abort.abort()
    }
  }
}
