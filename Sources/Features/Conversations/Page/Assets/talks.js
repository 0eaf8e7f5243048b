// The known conversations. This module doesn't use the DOM.

/** Messages per page. */
export const PAGE = 50
/** Limits of the cache: conversations, messages of each, and characters in all. */
const KEPT = { talks: 50, messages: 30, characters: 400_000 }
/** A valid name. */
export const isName = text => /^[\w-]{1,32}$/.test(text)

/** Returns the reactions after a user has added or removed one. A repetition changes nothing. */
export function reacted(reactions = [], { user, emoji, added }) {
  const before = reactions.find(one => one.emoji === emoji) ?? { emoji, count: 0, users: [] }
  if (before.users.includes(user) === added) return reactions
  const users = added ? [...before.users, user] : before.users.filter(name => name !== user)
  const after = { emoji, count: before.count + (added ? 1 : -1), users }
  return (before.count ? reactions.map(one => one === before ? after : one) : [...reactions, after]).filter(({ count }) => count)
}

/** A conversation. Its known messages are consecutive up to `received`; there are none until they were read. */
export class Talk {
  id
  type = 'group'
  participants = []
  lastOffset = 0
  lastMessage = null
  readOffset = 0
  muted = false
  messages = null
  received = 0
  /** Whether there may be messages before the first one. */
  hasEarlier = false
  /** Whether the messages are from the cache: perhaps incomplete or outdated. */
  isKept = false
  /** Users who have left since the page was opened, with the offset before the leave. */
  departures = []
  /** Why it couldn't be read. */
  trouble = null
  /** The time of the last message: a number that only grows. */
  touched = 0
  /** The authors of its messages. After a leave, a pair's participants no longer show whose it was. */
  #speakers = new Set()

  constructor(id) {
    this.id = id
  }

  /** Applies the server's state, which may be older than messages received since. */
  take(state) {
    const { type, participants, muted } = state
    Object.assign(this, { type, participants, muted })
    this.lastOffset = Math.max(this.lastOffset, state.lastOffset)
    this.readOffset = Math.max(this.readOffset, state.readOffset)
    if (state.lastMessage) this.#stands(state.lastMessage)
    return this
  }

  /** Adds a message. Returns `new`, `known`, or `gap` if messages before it have to be read first. */
  receive(message) {
    const isNew = message.offset > this.lastOffset
    this.#stands(message)
    if (!this.messages || this.isKept) return isNew ? 'new' : 'known'
    if (message.offset > this.received + 1) return 'gap'
    if (message.offset <= this.received) return 'known'
    this.#append([message])
    return 'new'
  }

  /** Adds messages after `received`. Returns how many are new. */
  append(page) {
    const fresh = page.messages.filter(message => message.offset > this.received)
    this.#append(fresh)
    // Purged messages are skipped.
    if (!page.messages.length) this.received = Math.max(this.received, page.lastOffset)
    return fresh.length
  }

  /** Adds messages before the first one, or the last ones: a page that was read with `before`. Newer messages may have arrived meanwhile. */
  prepend(page, before = Infinity) {
    if (this.isKept) this.messages = null
    this.isKept = false
    const first = this.messages?.[0]?.offset ?? Infinity
    const older = page.messages.filter(message => message.offset < first)
    if (!this.messages) this.received = older.at(-1)?.offset ?? Math.min(page.lastOffset, before - 1)
    this.messages = [...older, ...this.messages ?? []]
    for (const message of older) this.#stands(message)
    this.hasEarlier = older.length > 0 && older[0].offset > 1
  }

  /** Applies a reaction that was added or removed. */
  react(change) {
    const message = this.messages?.find(({ offset }) => offset === change.offset)
    if (message) message.reactions = reacted(message.reactions, change)
  }

  /** Takes the reactions of a page that was read again. */
  takeReactions(page) {
    const read = new Map(page.messages.map(message => [message.id, message.reactions]))
    for (const message of this.messages ?? []) if (read.has(message.id)) message.reactions = read.get(message.id)
  }

  /** Removes a participant. */
  part(user, participants) {
    // A pair is named after its former participants.
    if (this.type === 'person') this.#speakers.add(user)
    this.participants = participants
    this.departures.push({ user, after: this.lastOffset })
  }

  /** Returns what `restore` reads. */
  get kept() {
    const { id, type, participants, muted, lastOffset, readOffset, lastMessage, messages } = this
    return { id, type, participants, muted, lastOffset, readOffset, lastMessage, messages: messages?.slice(-KEPT.messages) }
  }

  restore(messages) {
    this.messages = messages ?? (this.lastMessage ? [this.lastMessage] : [])
    this.isKept = this.hasEarlier = true
    for (const message of this.messages) this.#stands(message)
  }

  #append(messages) {
    for (const message of messages) this.#stands(message)
    this.messages.push(...messages)
    this.received = messages.at(-1)?.offset ?? this.received
  }

  #stands(message) {
    if (message.author) this.#speakers.add(message.author)
    this.lastOffset = Math.max(this.lastOffset, message.offset)
    if (message.offset >= (this.lastMessage?.offset ?? 0)) this.lastMessage = message
  }

  /** Removes messages far above. They can be read again. */
  trim(count) {
    if (!this.messages || this.messages.length <= count) return
    this.messages = this.messages.slice(-count)
    this.hasEarlier = true
  }

  /** The other participants. */
  others(me) { return this.participants.filter(name => name !== me) }
  hasLeft(me) { return !this.participants.includes(me) }

  title(me) {
    const others = this.others(me)
    if (others.length) return others.join(', ')
    const gone = [...this.#speakers].filter(name => name !== me)
    return this.type === 'person' && gone.length ? gone[0] : 'Nobody else'
  }

  /** The number of unread messages; 0 if the last one is the user's own. */
  unread(me) {
    return this.lastMessage?.author === me ? 0 : Math.max(0, this.lastOffset - this.readOffset)
  }
}

/** All conversations, the latest first. */
export class Talks {
  #talks = new Map()
  #order = []
  #moment = 0
  /** Present users by conversation, without the user. */
  here = new Map()
  /** The cursor of the list's next page; `undefined` when all is known. */
  next

  get all() { return this.#order.map(id => this.#talks.get(id)) }
  get(id) { return this.#talks.get(id) }

  /** Changes from now on are newer than the answer to a request sent now. */
  get moment() { return this.#moment }

  /** Applies the list as of `moment`; `isMore`: a further page. */
  takeList({ conversations, next }, moment, isMore = false) {
    const ids = conversations.map(one => this.#take(one).id)
    const newer = this.#order.filter(id => this.get(id).touched > moment)
    const older = isMore || next ? this.#order : newer
    const order = isMore ? [...older, ...ids] : [...newer, ...ids, ...older]
    for (const id of this.#order) if (!order.includes(id)) this.#talks.delete(id)
    this.#order = [...new Set(order)]
    if (isMore || !next || !this.next) this.next = next
  }

  /** Adds a conversation that was created or changed. */
  takeOne(state) {
    const talk = this.#take(state)
    if (!this.#order.includes(talk.id)) this.#touch(talk)
    return talk
  }

  /** Adds a message from the socket, or from the answer to its sender. Returns the conversation and the result of `Talk.receive`. */
  receive({ routingKey, message }) {
    const talk = this.#talk(message.conversation)
    const participants = routingKey?.split('.')
    // A page read later has the participants at the time of the message, not the current ones.
    if (participants && message.offset > talk.lastOffset) talk.participants = participants
    if (participants?.length < 3 && !talk.lastOffset) talk.type = 'person'
    const outcome = talk.receive(message)
    if (outcome !== 'known') this.#touch(talk)
    return { talk, outcome }
  }

  /** Restores the cache. */
  get kept() {
    const kept = this.all.slice(0, KEPT.talks).map(talk => talk.kept)
    return JSON.stringify(kept).length > KEPT.characters ? kept.map(({ messages, ...talk }) => talk) : kept
  }

  restore(kept) {
    this.takeList({ conversations: kept }, this.#moment)
    for (const { id, messages } of kept) this.get(id).restore(messages)
  }

  drop(id) {
    this.#talks.delete(id)
    this.#order = this.#order.filter(other => other !== id)
  }

  /** Returns whether the server's offsets show messages that aren't known. */
  isBehind(offsets) {
    return Object.entries(offsets).some(([id, offset]) => offset > (this.get(id)?.lastOffset ?? -1))
  }

  /** The offsets for the socket's `after`: those of conversations with known messages. */
  get after() {
    const loaded = this.all.filter(talk => talk.messages && !talk.isKept).slice(0, 100)
    return loaded.map(talk => `${talk.id}:${talk.received}`).join()
  }

  #talk(id) {
    if (!this.#talks.has(id)) this.#talks.set(id, new Talk(id))
    return this.#talks.get(id)
  }

  #take(state) { return this.#talk(state.id).take(state) }

  #touch(talk) {
    talk.touched = ++this.#moment
    this.#order = [talk.id, ...this.#order.filter(id => id !== talk.id)]
  }
}
