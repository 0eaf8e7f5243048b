// Requests to the server. Every answer shows its clock.
import { retryAfter } from './retry.js'
import { Refusal } from './words.js'

const TIMEOUT = 15_000

export class Api {
  #clock
  #headers
  /** The device. */
  device

  /** `headers` are sent with each request. */
  constructor(clock, device, headers = {}) {
    this.#clock = clock
    this.device = device
    this.#headers = headers
  }

  /** Returns the answer's JSON. Throws a `Refusal`, with status 0 if the answer was lost or isn't the server's. */
  async request(method, path, body) {
    const response = await this.ask(path, {
      method, signal: AbortSignal.timeout(TIMEOUT),
      ...body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } },
    })
    const json = await response.json().catch(() => null)
    if (response.ok && json) return json
    throw new Refusal(response.ok ? 0 : response.status, json ?? {}, retryAfter(response.headers.get('Retry-After')))
  }

  /** Returns the answer, whatever its status. Throws a `Refusal` with status 0 if there is none. */
  async ask(path, options) {
    const sent = Date.now()
    let response
    try {
      const headers = { ...this.#headers, ...options?.headers }
      response = await fetch(path, { cache: 'no-store', credentials: 'omit', ...options, headers })
    } catch {
      throw new Refusal(0)
    }
    this.#clock.observe(Date.parse(response.headers.get('Date')), sent, Date.now())
    return response
  }

  /** Sends a request with the device in the query. */
  get(path, query = {}) { return this.request('GET', this.#of(path, query)) }
  delete(path, query = {}) { return this.request('DELETE', this.#of(path, query)) }
  /** Sends a request with the device in the body. */
  post(path, body) { return this.request('POST', path, { deviceId: this.device, ...body }) }

  #of(path, query) { return `${path}?${new URLSearchParams({ deviceId: this.device, ...query })}` }

  /** Sends a few requests at the best moments, until the clock is known to a twentieth of a second. */
  async learnClock() {
    for (let tries = 0; tries < 6 && this.#clock.uncertainty > 50; tries++) {
      await new Promise(done => setTimeout(done, this.#clock.isKnown ? this.#clock.nextProbe : 0))
      await this.ask('/healthz', { method: 'HEAD', signal: AbortSignal.timeout(5_000) })
    }
  }
}
