// Requests to the server. Every answer tells its clock.
import { retryAfter } from './retry.js'
import { Refusal } from './words.js'

const PATIENCE = 15_000

export class Api {
  #clock

  constructor(clock) {
    this.#clock = clock
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
      response = await fetch(path, { cache: 'no-store', credentials: 'omit', ...options })
    } catch {
      throw new Refusal(0)
    }
    this.#clock.observe(Date.parse(response.headers.get('Date')), sent, Date.now())
    return response
  }

  schedule(device, date, timeZone) {
    return this.request('GET', `/schedule?${new URLSearchParams({ deviceId: device, date, timeZone })}`)
  }

  register(task) { return this.request('POST', '/task', task) }
  cancel(task) { return this.request('POST', '/task/delete', task) }

  /** Asks a few times, when it tells most, until the clock is known to a twentieth of a second. */
  async learnClock() {
    for (let tries = 0; tries < 6 && this.#clock.uncertainty > 50; tries++) {
      await new Promise(done => setTimeout(done, this.#clock.isKnown ? this.#clock.nextProbe : 0))
      await this.ask('/healthz', { method: 'HEAD', signal: AbortSignal.timeout(5_000) })
    }
  }
}
