// The view of a conversation: its messages, and the field for a new one.
import { find, part, setText, stamp } from './dom.js'
import { arrange } from './inbox.js'
import { dayTitle, hour, isSameDay } from './moments.js'

const LIMIT = 2_000
/** Messages that are kept while the end is shown. */
const MOST = 300
const STATES = { sending: 'Sending…', waiting: 'Waiting until the server can be reached.' }

/** Returns whether a key belongs to an input method. Safari shows it only by a key code. */
export const isWriting = event => event.isComposing || event.keyCode === 229

/** Returns who is present, as text. */
function presenceText(talk, me, here) {
  if (talk.type === 'person' && !talk.others(me).length && !talk.hasLeft(me)) return 'Has left. Your next message brings both of you back.'
  if (!here.length) return ''
  if (talk.type === 'person') return 'Is here'
  return `${here.length} of ${talk.others(me).length} others here: ${here.slice(0, 4).join(', ')}${here.length > 4 ? ' …' : ''}`
}

export class Thread {
  #handlers
  #talk = null
  #rows = new Map()
  #drafts = new Map()
  #isAtEnd = true
  /** The offset of the first message that is drawn. */
  #first
  /** Messages after this offset were unread when the conversation was opened. */
  #readTo = Infinity

  /** `handlers` has `send(content)`, `earlier()`, `again(id)`, `drop(id)`, `react(id, emoji, added)`. */
  constructor(handlers) {
    this.#handlers = handlers
    const box = find('#messages')
    box.addEventListener('scroll', () => this.#scrolled(box), { passive: true })
    new ResizeObserver(() => this.#isAtEnd && this.toEnd()).observe(box)
    find('#newest').onclick = () => {
      this.toEnd()
      find('#content').focus()
    }
    find('#earlier').onclick = () => handlers.earlier()
    find('#say').addEventListener('submit', event => {
      event.preventDefault()
      this.#send()
    })
    find('#content').addEventListener('keydown', event => {
      // On a phone Enter is the only key for a new line.
      if (event.key !== 'Enter' || event.shiftKey || isWriting(event) || matchMedia('(pointer: coarse)').matches) return
      event.preventDefault()
      this.#send()
    })
  }

  get talk() { return this.#talk }

  /** Shows another conversation, or none. */
  open(talk, me) {
    if (this.#talk) this.#drafts.set(this.#talk.id, find('#content').value)
    this.#talk = talk
    this.#rows.clear()
    this.#isAtEnd = true
    this.#readTo = talk?.unread(me) ? talk.readOffset : Infinity
    this.#first = undefined
    find('#lines').replaceChildren()
    find('#content').value = this.#drafts.get(talk?.id) ?? ''
    setText(find('#say-note'), '')
  }

  /** `pending`: own messages that the server doesn't have yet; `here`: the others who are present. */
  draw(me, pending, here) {
    const talk = this.#talk
    for (const id of ['talk-top', 'messages', 'say']) find(`#${id}`).hidden = !talk
    find('#nothing').hidden = talk !== null
    find('#gone').hidden = !talk?.hasLeft(me)
    if (!talk) return
    const hasLeft = talk.hasLeft(me)
    if (this.#isAtEnd) talk.trim(MOST)
    setText(find('#title'), talk.title(me))
    // In a group these announcements would be too many.
    find('#here').setAttribute('aria-live', talk.type === 'person' ? 'polite' : 'off')
    setText(find('#here'), presenceText(talk, me, here))
    find('#say').hidden = hasLeft
    find('#mute').hidden = find('#leave').hidden = hasLeft
    find('#mute').setAttribute('aria-pressed', talk.muted)
    const isWhole = !talk.hasEarlier && !talk.trouble
    // Focusing the button scrolls to it, which loads the messages and may hide the button. The focus must not be lost with it.
    if (isWhole && document.activeElement === find('#earlier')) find('#messages').focus({ preventScroll: true })
    find('#earlier').hidden = isWhole
    setText(find('#earlier'), talk.trouble ? 'The messages can’t be read. Try again' : 'Earlier messages')
    this.#drawLines(talk, me, pending)
  }

  #drawLines(talk, me, pending) {
    const box = find('#messages')
    const wasEnd = box.scrollHeight - box.scrollTop
    const ids = new Set(talk.messages?.map(message => message.id))
    const all = [...talk.messages ?? [], ...pending.filter(({ id }) => !ids.has(id)).map(entry => ({ ...entry, author: me, date: entry.at }))]
    const lines = []
    let before = null
    for (const message of all) {
      const at = typeof message.date === 'number' ? message.date : Date.parse(message.date)
      const isNewDay = !before || !isSameDay(before.at, at)
      if (isNewDay) lines.push(this.#separator(`day ${dayTitle(at)}`, dayTitle(at)))
      const isUnread = message.offset > this.#readTo && !(before?.offset > this.#readTo)
      if (isUnread) lines.push(this.#separator('unread', 'New messages'))
      const follows = !isNewDay && !isUnread && before.author === message.author
      lines.push(this.#line(message, at, me, follows))
      for (const { user, after } of talk.departures) {
        if (after === message.offset) lines.push(this.#separator(`left ${user} ${after}`, `${user} has left`))
      }
      before = { ...message, at }
    }
    arrange(find('#lines'), lines)
    for (const [key, row] of this.#rows) if (!row.isConnected) this.#rows.delete(key)
    if (this.#isAtEnd) this.toEnd()
    // A reader further up keeps the position when older messages are added.
    const first = talk.messages?.[0]?.offset
    if (!this.#isAtEnd && first !== this.#first) box.scrollTop = box.scrollHeight - wasEnd
    this.#first = first
  }

  #row(key, make) {
    if (!this.#rows.has(key)) this.#rows.set(key, make())
    return this.#rows.get(key)
  }

  #separator(key, text) {
    const row = this.#row(key, () => stamp('day'))
    setText(row.firstElementChild, text)
    return row
  }

  #line(message, at, me, follows) {
    const { id, author, content, state, fault } = message
    const row = this.#row(id, () => this.#newLine(id))
    this.#drawReactions(row, message, me)
    const isOwn = author === me
    row.classList.toggle('own', isOwn)
    row.classList.toggle('follows', follows)
    row.dataset.state = state ?? 'stored'
    setText(part(row, 'author'), isOwn ? 'You' : author || 'Erased user')
    part(row, 'author').classList.toggle('visually-hidden', isOwn || follows || this.#talk.type === 'person')
    setText(part(row, 'content'), content || 'Erased')
    row.classList.toggle('erased', !content)
    setText(part(row, 'time'), hour(at))
    part(row, 'time').dateTime = new Date(at).toISOString()
    setText(part(row, 'state'), fault ? `Not sent: ${fault}` : STATES[state] ?? '')
    part(row, 'do').hidden = !state || state === 'sending'
    part(row, 'again').hidden = state !== 'failed'
    return row
  }

  #newLine(id) {
    const row = stamp('line')
    part(row, 'again').onclick = () => {
      this.#handlers.again(id)
      find('#content').focus()
    }
    part(row, 'drop').onclick = () => {
      this.#handlers.drop(id)
      find('#content').focus()
    }
    row.addEventListener('click', ({ target }) => {
      const button = target.closest('[data-emoji]')
      if (!button) return
      const choices = button.closest('details')
      if (choices) choices.firstElementChild.focus()
      if (choices) choices.open = false
      this.#handlers.react(id, button.dataset.emoji, button.getAttribute('aria-pressed') !== 'true')
    })
    return row
  }

  /** Shows the reactions to a message. Each is a button that adds or removes the own one. */
  #drawReactions(row, { author, state, reactions = [] }, me) {
    const box = part(row, 'reactions')
    const canReact = !state && author && !this.#talk.hasLeft(me)
    part(row, 'choices').hidden = !canReact
    const shown = JSON.stringify([reactions, canReact])
    if (box.dataset.shown === shown) return
    box.dataset.shown = shown
    const focused = box.contains(document.activeElement) && document.activeElement.dataset.emoji
    const buttons = reactions.map(({ emoji, count, users }) => {
      const button = stamp('reaction')
      const more = count > users.length ? ` and ${count - users.length} more` : ''
      const title = `${users.map(name => name === me ? 'you' : name).join(', ')}${more}`
      button.dataset.emoji = emoji
      button.setAttribute('aria-pressed', users.includes(me))
      button.setAttribute('aria-label', `${emoji} from ${title}`)
      return Object.assign(button, { title, disabled: !canReact, textContent: `${emoji} ${count}` })
    })
    box.replaceChildren(...buttons)
    // A button that is drawn again keeps the focus.
    if (focused) (buttons.find(({ dataset }) => dataset.emoji === focused) ?? part(row, 'choices').firstElementChild).focus()
  }

  #send() {
    if (!this.#talk) return
    const content = find('#content').value.trim()
    const length = [...content].length
    setText(find('#say-note'), length > LIMIT ? `That is ${length} characters. The limit is ${LIMIT}.` : '')
    if (!content || length > LIMIT) return
    find('#content').value = ''
    this.#isAtEnd = true
    this.#handlers.send(content)
  }

  // Scrolling

  toEnd() {
    const box = find('#messages')
    box.scrollTop = box.scrollHeight
    this.#isAtEnd = true
    find('#newest').hidden = true
  }

  /** After a new message, a reader further up isn't moved but notified. */
  came() {
    if (!this.#isAtEnd) find('#newest').hidden = false
  }

  #scrolled(box) {
    this.#isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40
    if (this.#isAtEnd) find('#newest').hidden = true
    // Messages that were read but aren't drawn yet change the position.
    const isDrawn = this.#talk?.messages?.[0]?.offset === this.#first
    if (box.scrollTop < 200 && isDrawn && this.#talk?.hasEarlier) this.#handlers.earlier()
  }
}
