// Requests to the server. Every answer tells its clock.
import { retryAfter } from './retry.js'
import { Refusal } from './words.js'

const PATIENCE = 15_000

export class Api {
  #clock
  #headers
  /** Who asks. */
  device

  /** `headers` go with each request. */
  constructor(clock, device, headers = {}) {
    this.#clock = clock
    this.device = device
    this.#headers = headers
  }

  /** The answer's JSON; throws a `Refusal`, of status 0 when the answer was lost or isn't the server's. */
  async request(method, path, body) {
    const response = await this.ask(path, {
      method, signal: AbortSignal.timeout(PATIENCE),
      ...body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } },
    })
    const json = await response.json().catch(() => null)
    if (response.ok && json) return json
    throw new Refusal(response.ok ? 0 : response.status, json ?? {}, retryAfter(response.headers.get('Retry-After')))
  }

  /** The answer, whatever its status; throws a `Refusal` of status 0 when there is none. */
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

  /** What the device asks for, by the query. */
  get(path, query = {}) { return this.request('GET', this.#of(path, query)) }
  delete(path, query = {}) { return this.request('DELETE', this.#of(path, query)) }
  /** What the device says. */
  post(path, body) { return this.request('POST', path, { deviceId: this.device, ...body }) }

  #of(path, query) { return `${path}?${new URLSearchParams({ deviceId: this.device, ...query })}` }

  /** Asks a few times, when it tells most, until the clock is known to a twentieth of a second. */
  async learnClock() {
    for (let tries = 0; tries < 6 && this.#clock.uncertainty > 50; tries++) {
      await new Promise(done => setTimeout(done, this.#clock.isKnown ? this.#clock.nextProbe : 0))
      await this.ask('/healthz', { method: 'HEAD', signal: AbortSignal.timeout(5_000) })
    }
  }
}
