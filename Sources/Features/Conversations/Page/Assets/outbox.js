// Messages on their way to the server. They are kept until the server has stored them, under an id that makes repeats harmless. This module doesn't use the DOM.
import { newDevice } from './device.js'
import { Backoff } from './retry.js'

/** Errors that only the user can fix. */
const LASTING = ['storage_full', 'too_many_conversations']
/** Returns whether a retry may succeed by itself. */
export const isPassing = ({ status, code }) => !LASTING.includes(code) && (status === 0 || status === 429 || status >= 500)

const MOST_TRIES = 5

export class Outbox {
  #device
  #kept
  #post
  #handlers
  #sending = null
  #timer
  #tries = new Map()
  #backoff = new Backoff({ most: 15_000 })

  /**
   * `kept` is `store.js`'s outbox, which tabs share; `post(body)` resolves with the server's answer or throws a `Refusal`; `handlers` has
   * `changed()` and `stored(messages)`.
   */
  constructor(device, kept, post, handlers) {
    this.#device = device
    this.#kept = kept
    this.#post = post
    this.#handlers = handlers
  }

  /** Messages that aren't stored yet, oldest first: `{id, number, conversations, content, at, fault?}`. */
  get all() {
    return this.#kept.all(this.#device).map(text => JSON.parse(text)).sort((one, other) => one.number - other.number)
  }

  /** Those of one conversation, each with its `state`: sending, waiting or failed. */
  in(conversation) {
    return this.all.filter(entry => entry.conversations.includes(conversation)).map(entry => ({
      ...entry, state: entry.fault ? 'failed' : entry.id === this.#sending ? 'sending' : 'waiting',
    }))
  }

  add(conversations, content, at = Date.now()) {
    const number = (this.all.at(-1)?.number ?? 0) + 1
    this.#keep({ id: newDevice(), number, conversations, content, at })
    return this.pump()
  }

  /** Sends a refused message again under the same id. */
  again(id) {
    this.#tries.delete(id)
    this.#fail(id, undefined)
    return this.pump()
  }

  drop(id) {
    this.#kept.set(this.#device, id, null)
    this.#handlers.changed()
  }

  #fail(id, fault) {
    const entry = this.all.find(entry => entry.id === id)
    if (entry) this.#keep({ ...entry, fault })
  }

  #keep(entry) {
    this.#kept.set(this.#device, entry.id, JSON.stringify(entry))
    this.#handlers.changed()
  }

  /** Sends the waiting messages one after the other, so that their order stays. */
  async pump() {
    clearTimeout(this.#timer)
    while (!this.#sending && navigator.onLine) {
      const entry = this.all.find(entry => !entry.fault)
      if (!entry) return
      this.#sending = entry.id
      this.#handlers.changed()
      const wait = await this.#send(entry)
      this.#sending = null
      if (wait !== null) this.#timer = setTimeout(() => this.pump(), wait)
      this.#handlers.changed()
      if (wait !== null) return
    }
  }

  /** Milliseconds until the next attempt; `null` when it has succeeded. */
  async #send({ id, conversations, content }) {
    const [conversation, ...others] = conversations
    try {
      const { messages } = await this.#post({
        deviceId: this.#device, content, id, ...others.length ? { conversations } : { conversation },
      })
      this.#backoff.reset()
      this.#handlers.stored(messages)
      this.drop(id)
    } catch (refusal) {
      if (isPassing(refusal) && this.#mayTry(id, refusal)) return this.#backoff.next(refusal.wait)
      this.#fail(id, refusal.message)
    }
    return null
  }

  /** A message at which the server fails repeatedly would block all others, so it is shown to the user. */
  #mayTry(id, { status }) {
    if (status < 500 || status === 503) return true
    const tries = (this.#tries.get(id) ?? 0) + 1
    this.#tries.set(id, tries)
    return tries < MOST_TRIES
  }
}
