// The WebSocket of a room. It reconnects by itself until the room is over.
import { Backoff, afterClose, afterRefusal, retryAfter } from './retry.js'

/** The longest timeout of browsers. They treat a longer one as none. */
const LONGEST_TIMER = 2 ** 31 - 1
/** How long the room may take for the handshake, or for the reason of a refusal. */
const TIMEOUT = 10_000

export class RoomLink {
  #api
  #path
  #room
  #handlers
  #socket = null
  #timer = null
  #backoff = new Backoff({ most: 10_000 })
  #isOver = false
  #hasKnocked = false
  #online = () => this.#hasKnocked && !this.#socket && this.#retry(0)
  #offline = () => this.#socket && this.#lose()

  /**
   * Connects in `wait` milliseconds. If the room may not exist (`isUnsure`), it asks first. `handlers` has `state(name)`, with open, lost,
   * over or none (there is no such room), `ale(kind)`, `presence(partner)` and `rematched(message)`.
   */
  constructor(api, room, task, { wait, isUnsure }, handlers) {
    this.#api = api
    this.#room = room
    this.#path = `/socket?${new URLSearchParams({ id: room, taskId: task, presence: true })}`
    this.#handlers = handlers
    addEventListener('online', this.#online)
    addEventListener('offline', this.#offline)
    this.#timer = setTimeout(() => {
      this.#hasKnocked = true
      if (isUnsure) this.#ask()
      else this.#connect()
    }, Math.min(wait, LONGEST_TIMER))
  }

  get isOpen() { return this.#socket?.readyState === WebSocket.OPEN }

  /** Sends an ale, plain without a kind. Returns whether it was sent. */
  sendAle(kind) {
    if (!this.isOpen || !navigator.onLine) return false
    this.#socket.send(JSON.stringify({ type: 'ale', id: this.#room, kind }))
    return true
  }

  close() {
    this.#isOver = true
    removeEventListener('online', this.#online)
    removeEventListener('offline', this.#offline)
    clearTimeout(this.#timer)
    this.#socket?.close(1000)
    this.#socket = null
  }

  /** There is one socket at a time, since two would count as two members. Messages of an older one are ignored. */
  #connect() {
    if (this.#socket) return
    const socket = this.#socket = new WebSocket(location.origin.replace(/^http/, 'ws') + this.#path)
    let wasOpen = false
    const timeout = setTimeout(() => socket === this.#socket && this.#lose(), TIMEOUT)
    socket.binaryType = 'arraybuffer'
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return
      const message = JSON.parse(typeof data === 'string' ? data : new TextDecoder().decode(data))
      if (message.type === 'aleResponse') this.#handlers.ale(message.kind)
      if (message.type === 'presence') this.#handlers.presence(message.data.partner)
      // The room then closes, and the user continues in another.
      if (message.type === 'rematched') this.#handlers.rematched(message)
      // Only after the server's handshake is the user in the room.
      if (message.type !== 'handshake') return
      wasOpen = true
      clearTimeout(timeout)
      this.#backoff.reset()
      this.#handlers.state('open')
    }
    socket.onclose = ({ code }) => {
      clearTimeout(timeout)
      if (this.#isOver || socket !== this.#socket) return
      this.#socket = null
      const next = afterClose(code, wasOpen)
      if (next === 'over') return this.#end('over')
      this.#handlers.state('lost')
      if (next === 'again') this.#retry(0)
      else this.#ask()
    }
  }

  /** Abandons a silent socket, because its close event may take as long as the network does. */
  #lose() {
    const socket = this.#socket
    this.#socket = null
    socket.close()
    this.#handlers.state('lost')
    this.#retry(0)
  }

  /** A refused WebSocket shows no status. A plain request to the same address does. */
  async #ask() {
    let atLeast = 0
    try {
      const response = await this.#api.ask(this.#path, { signal: AbortSignal.timeout(TIMEOUT) })
      atLeast = retryAfter(response.headers.get('Retry-After'))
      const next = afterRefusal(response.status)
      if (this.#socket) return
      if (next !== 'again') return this.#end(next)
    } catch {
      // No answer: the network or the server is down.
    }
    if (!this.#isOver && !this.#socket) this.#retry(atLeast)
  }

  #retry(atLeast) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#connect(), this.#backoff.next(atLeast))
  }

  #end(state) {
    if (this.#isOver) return
    this.close()
    this.#handlers.state(state)
  }
}
