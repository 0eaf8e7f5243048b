// The WebSocket of a room: comes back by itself until the room is over.
import { Backoff, afterClose, afterRefusal, retryAfter } from './retry.js'

/** Browsers take a longer wait for none. */
const LONGEST_TIMER = 2 ** 31 - 1

export class RoomLink {
  #api
  #path
  #room
  #told
  #socket = null
  #timer = null
  #backoff = new Backoff({ most: 10_000 })
  #isOver = false
  #hasKnocked = false
  #online = () => this.#hasKnocked && this.#socket === null && this.#retry(0)

  /** Knocks in `wait` milliseconds. `told` has `state(name)`, with open, lost, over or none (nobody else has this room), and `ale()`. */
  constructor(api, room, task, wait, told) {
    this.#api = api
    this.#room = room
    this.#path = `/socket?${new URLSearchParams({ id: room, taskId: task })}`
    this.#told = told
    addEventListener('online', this.#online)
    this.#timer = setTimeout(() => this.#connect(), Math.min(wait, LONGEST_TIMER))
  }

  get isOpen() { return this.#socket?.readyState === WebSocket.OPEN }

  /** Whether the ale is on its way. */
  sendAle() {
    if (!this.isOpen || !navigator.onLine) return false
    this.#socket.send(JSON.stringify({ type: 'ale', id: this.#room }))
    return true
  }

  close() {
    this.#isOver = true
    removeEventListener('online', this.#online)
    clearTimeout(this.#timer)
    this.#socket?.close(1000)
  }

  #connect() {
    this.#hasKnocked = true
    const socket = this.#socket = new WebSocket(location.origin.replace(/^http/, 'ws') + this.#path)
    let wasOpen = false
    socket.binaryType = 'arraybuffer'
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(typeof data === 'string' ? data : new TextDecoder().decode(data))
      if (message.type === 'aleResponse') this.#told.ale()
      // Open means that the server has greeted: then one is in the room.
      if (message.type !== 'handshake') return
      wasOpen = true
      this.#backoff.reset()
      this.#told.state('open')
    }
    socket.onclose = ({ code }) => {
      if (this.#isOver) return
      this.#socket = null
      const next = afterClose(code, wasOpen)
      if (next === 'over') return this.#end('over')
      this.#told.state('lost')
      if (next === 'again') this.#retry(0)
      else this.#ask()
    }
  }

  /** A refused WebSocket has no status; the same address without one does. */
  async #ask() {
    let atLeast = 0
    try {
      const response = await this.#api.ask(this.#path, { signal: AbortSignal.timeout(10_000) })
      atLeast = retryAfter(response.headers.get('Retry-After'))
      const next = afterRefusal(response.status)
      if (next !== 'again') return this.#end(next)
    } catch {
      // No answer either: the network's, or the server's, to come back.
    }
    if (!this.#isOver) this.#retry(atLeast)
  }

  #retry(atLeast) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#connect(), this.#backoff.next(atLeast))
  }

  #end(state) {
    if (this.#isOver) return
    this.close()
    this.#told.state(state)
  }
}
