// What is known of conversations. Without DOM.

/** Of so many messages a page is asked for. */
export const PAGE = 50
/** So many conversations, and of each so many messages, are kept for when there is no network: not more in all than so many characters. */
const KEPT = { talks: 50, messages: 30, characters: 400_000 }
/** A name, as the server takes it. */
export const isName = text => /^[\w-]{1,32}$/.test(text)

/** A conversation. Of its messages it has those that follow one another up to `heard`; none until they were asked for. */
export class Talk {
  id
  type = 'group'
  participants = []
  lastOffset = 0
  lastMessage = null
  readOffset = 0
  muted = false
  messages = null
  heard = 0
  /** Whether there may be messages before the first one. */
  hasEarlier = false
  /** Whether its messages are those that the browser has kept: perhaps neither all nor as they are now. */
  isKept = false
  /** Who has left while one listened, and behind which message. */
  departures = []
  /** Why it couldn't be read. */
  trouble = null
  /** When something was last heard of it: a number that only grows. */
  touched = 0
  /** Who has spoken in it: a pair that somebody has left doesn't say whose it was. */
  #speakers = new Set()

  constructor(id) {
    this.id = id
  }

  /** What the server says of it, which may be older than what was heard since. */
  take(told) {
    const { type, participants, muted } = told
    Object.assign(this, { type, participants, muted })
    this.lastOffset = Math.max(this.lastOffset, told.lastOffset)
    this.readOffset = Math.max(this.readOffset, told.readOffset)
    if (told.lastMessage) this.#stands(told.lastMessage)
    return this
  }

  /** Takes in a message: whether it is `new`, or `known`; a `gap` before it has to be read first. */
  hear(message) {
    const isNew = message.offset > this.lastOffset
    this.#stands(message)
    if (!this.messages || this.isKept) return isNew ? 'new' : 'known'
    if (message.offset > this.heard + 1) return 'gap'
    if (message.offset <= this.heard) return 'known'
    this.#append([message])
    return 'new'
  }

  /** Takes in what follows `heard`: how many of it are new. */
  append(page) {
    const fresh = page.messages.filter(message => message.offset > this.heard)
    this.#append(fresh)
    // What was purged doesn't come.
    if (!page.messages.length) this.heard = Math.max(this.heard, page.lastOffset)
    return fresh.length
  }

  /** Takes in what precedes the first message, or else the last messages: what was asked for with `before`, behind which more may have come. */
  prepend(page, before = Infinity) {
    if (this.isKept) this.messages = null
    this.isKept = false
    const first = this.messages?.[0]?.offset ?? Infinity
    const older = page.messages.filter(message => message.offset < first)
    if (!this.messages) this.heard = older.at(-1)?.offset ?? Math.min(page.lastOffset, before - 1)
    this.messages = [...older, ...this.messages ?? []]
    for (const message of older) this.#stands(message)
    this.hasEarlier = older.length > 0 && older[0].offset > 1
  }

  /** Somebody takes part no more. */
  part(user, participants) {
    // A pair is called as who was in it.
    if (this.type === 'person') this.#speakers.add(user)
    this.participants = participants
    this.departures.push({ user, after: this.lastOffset })
  }

  /** What `restore` takes in again. */
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
    this.heard = messages.at(-1)?.offset ?? this.heard
  }

  #stands(message) {
    if (message.author) this.#speakers.add(message.author)
    this.lastOffset = Math.max(this.lastOffset, message.offset)
    if (message.offset >= (this.lastMessage?.offset ?? 0)) this.lastMessage = message
  }

  /** Lets go of what is far above: it can be read again. */
  trim(count) {
    if (!this.messages || this.messages.length <= count) return
    this.messages = this.messages.slice(-count)
    this.hasEarlier = true
  }

  /** Who is in it but oneself. */
  others(me) { return this.participants.filter(name => name !== me) }
  hasLeft(me) { return !this.participants.includes(me) }

  title(me) {
    const others = this.others(me)
    if (others.length) return others.join(', ')
    const gone = [...this.#speakers].filter(name => name !== me)
    return this.type === 'person' && gone.length ? gone[0] : 'Nobody else'
  }

  /** How many messages one hasn't read: none behind one's own. */
  unread(me) {
    return this.lastMessage?.author === me ? 0 : Math.max(0, this.lastOffset - this.readOffset)
  }
}

/** All conversations, the latest first. */
export class Talks {
  #talks = new Map()
  #order = []
  #moment = 0
  /** Who is there, by conversation: only where somebody else is. */
  here = new Map()
  /** Where the list goes on; `undefined` when all of it is known. */
  next

  get all() { return this.#order.map(id => this.#talks.get(id)) }
  get(id) { return this.#talks.get(id) }

  /** What changes from now on is newer than what is asked for now. */
  get moment() { return this.#moment }

  /** The list as of `moment`; `isMore`: what follows what is known already. */
  takeList({ conversations, next }, moment, isMore = false) {
    const told = conversations.map(one => this.#take(one).id)
    const newer = this.#order.filter(id => this.get(id).touched > moment)
    const older = isMore || next ? this.#order : newer
    const order = isMore ? [...older, ...told] : [...newer, ...told, ...older]
    for (const id of this.#order) if (!order.includes(id)) this.#talks.delete(id)
    this.#order = [...new Set(order)]
    if (isMore || !next || !this.next) this.next = next
  }

  /** One that was made, or changed. */
  takeOne(told) {
    const talk = this.#take(told)
    if (!this.#order.includes(talk.id)) this.#touch(talk)
    return talk
  }

  /** What the socket says, or the answer to who sent it: the conversation, and what `Talk.hear` says of the message. */
  hear({ routingKey, message }) {
    const talk = this.#talk(message.conversation)
    const participants = routingKey?.split('.')
    // What is read later tells who was in it then, not who is.
    if (participants && message.offset > talk.lastOffset) talk.participants = participants
    if (participants?.length < 3 && !talk.lastOffset) talk.type = 'person'
    const outcome = talk.hear(message)
    if (outcome !== 'known') this.#touch(talk)
    return { talk, outcome }
  }

  /** What is shown when there is no network. */
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

  /** Whether the server's offsets show something that isn't known here. */
  isBehind(offsets) {
    return Object.entries(offsets).some(([id, offset]) => offset > (this.get(id)?.lastOffset ?? -1))
  }

  /** From where on to hear, by the socket's `after`: those whose messages are here. */
  get after() {
    const loaded = this.all.filter(talk => talk.messages && !talk.isKept).slice(0, 100)
    return loaded.map(talk => `${talk.id}:${talk.heard}`).join()
  }

  #talk(id) {
    if (!this.#talks.has(id)) this.#talks.set(id, new Talk(id))
    return this.#talks.get(id)
  }

  #take(told) { return this.#talk(told.id).take(told) }

  #touch(talk) {
    talk.touched = ++this.#moment
    this.#order = [talk.id, ...this.#order.filter(id => id !== talk.id)]
  }
}
