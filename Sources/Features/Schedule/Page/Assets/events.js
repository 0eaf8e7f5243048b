// Server-sent events (WHATWG HTML §9.2.6). This module doesn't use the DOM. It replaces EventSource because its comments show that
// the connection is alive, its answers show why there is none, and the page controls the waits between attempts.

export class EventStreamDecoder {
  #rest = ''
  #data = []
  #event = ''
  #skipsNewline = false
  #isFirst = true
  /** The last event's id, to continue from. */
  lastId = ''

  /** Adds a piece of the stream, cut anywhere, and returns the events that it completes. */
  decode(text) {
    if (!text) return []
    if (this.#isFirst) {
      this.#isFirst = false
      text = text.replace(/^\uFEFF/, '')
    }
    // A CR ends a line at once. An LF after it, perhaps in the next piece, belongs to it.
    if (this.#skipsNewline) {
      this.#skipsNewline = false
      text = text.replace(/^\n/, '')
    }
    this.#skipsNewline = text.endsWith('\r')
    const lines = (this.#rest + text).split(/\r\n|\r|\n/)
    this.#rest = lines.pop()
    return lines.map(line => this.#take(line)).filter(Boolean)
  }

  #take(line) {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') this.#data.push(value)
    if (name === 'event') this.#event = value
    if (name === 'id' && !value.includes('\0')) this.lastId = value
    return null
  }

  #dispatch() {
    const event = { event: this.#event || 'message', data: this.#data.join('\n'), id: this.lastId }
    const isEmpty = this.#data.length === 0
    this.#data = []
    this.#event = ''
    return isEmpty ? null : event
  }
}
