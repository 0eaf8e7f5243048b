// The WebSocket of conversations. It reconnects by itself and continues after the last message.
import { Backoff, retryAfter } from './retry.js'
import { Refusal } from './words.js'

/** How long the server may take for the handshake, or for the reason of a refusal. */
const GREETING = 10_000
/** If the page was hidden for longer, its connection may be dead without an event. */
const SLEEP = 30_000
/** The server's messages without a request. */
const FORWARDED = ['message', 'presence', 'left', 'reaction']

export class Feed {
  #api
  #path
  #handlers
  #socket = null
  #timer = null
  #backoff = new Backoff({ most: 15_000 })
  #hiddenAt = Infinity
  #isWanted = false

  /** `path()` returns the address; `handlers` has `open(handshake)`, `lost()`, `refused(refusal)`, and a function for each message in `FORWARDED`. */
  constructor(api, path, handlers) {
    this.#api = api
    this.#path = path
    this.#handlers = handlers
    addEventListener('online', () => this.#isWanted && !this.#socket && this.#retry(0))
    addEventListener('offline', () => this.#lose())
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.#hiddenAt = Date.now()
      else if (Date.now() - this.#hiddenAt > SLEEP) this.#lose()
    })
  }

  /** There is one socket at a time. Messages of an older one are ignored. */
  connect() {
    this.#isWanted = true
    if (this.#socket) return
    const socket = this.#socket = new WebSocket(location.origin.replace(/^http/, 'ws') + this.#path())
    let wasOpen = false
    const timeout = setTimeout(() => socket === this.#socket && this.#lose(), GREETING)
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return
      const frame = JSON.parse(data)
      if (frame.type === 'handshake') {
        wasOpen = true
        clearTimeout(timeout)
        this.#backoff.reset()
        this.#handlers.open(frame)
      } else if (FORWARDED.includes(frame.type)) {
        this.#handlers[frame.type](frame)
      }
    }
    socket.onclose = ({ code }) => {
      clearTimeout(timeout)
      if (socket !== this.#socket) return
      this.#socket = null
      this.#handlers.lost()
      if (wasOpen && code !== 1000 && code !== 1008) this.#retry(0)
      else this.#ask()
    }
  }

  /** Abandons a silent socket, because its close event may take as long as the network does. */
  #lose() {
    const socket = this.#socket
    if (!socket) return
    this.#socket = null
    socket.close()
    this.#handlers.lost()
    this.#retry(0)
  }

  /** A refused WebSocket shows no status. A plain request to the same address does. */
  async #ask() {
    let atLeast = 0
    try {
      const response = await this.#api.ask(this.#path(), { signal: AbortSignal.timeout(GREETING) })
      atLeast = retryAfter(response.headers.get('Retry-After'))
      // 426 isn't final: it means that the request is allowed but must be made as a WebSocket.
      const isFinal = response.status >= 400 && response.status < 500 && response.status !== 426 && response.status !== 429
      if (isFinal) {
        this.#isWanted = false
        return this.#handlers.refused(new Refusal(response.status, await response.json().catch(() => ({}))))
      }
    } catch {
      // No answer: the network or the server is down.
    }
    if (!this.#socket) this.#retry(atLeast)
  }

  #retry(atLeast) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.connect(), this.#backoff.next(atLeast))
  }
}
