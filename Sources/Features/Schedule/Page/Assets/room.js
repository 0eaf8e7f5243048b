// The waiting room and the room.
import { LAST, countdown, spoken } from './countdown.js'
import { armed, find, setText, show, stamp } from './dom.js'
import { RoomLink } from './link.js'
import { quoted } from './quote.js'
import { maySeek, turnOf } from './slots.js'
import { sentence } from './words.js'

const FLYING = 24
const LINK_WORDS = {
  waiting: 'Opening the room…',
  open: 'You are in the room.',
  lost: 'The room can’t be reached. Trying again…',
  over: 'The room is closed. Well done.',
  none: 'You have no partner this time. Start anyway.',
  early: 'Somebody may still join you.',
}
/** The texts for a user without a partner. */
const ALONE_WORDS = { waiting: 'Checking whether somebody can still join you…', open: 'You are waiting. Somebody may still join you.' }
const PRESENCE_WORDS = {
  expected: 'Hasn’t come yet', here: 'Is here', away: 'Has lost the connection', left: 'Has left',
}

/** The kinds of cheers, as they are shown. */
const KINDS = { clap: 'Applause', thumb: 'A thumb up', spark: 'A spark', heart: 'A heart', fire: 'Fire' }

export class RoomView {
  #api
  #settings
  #slot = null
  #link = null
  #linkedRoom = null
  #linkState = 'waiting'
  #left = null
  #hasStarted = false
  #isSeeking = false
  /** The room in which the user preferred the partner. Another partner has another room. */
  #preferred = null
  #sent = 0
  #received = 0
  #frame = null
  #lock = null
  #disarm
  #handlers

  /**
   * `handlers` has `rematched(message)`; `left(slot)`, which resolves when the task is cancelled; and `seek(slot)`, which resolves with
   * whether a waiting user was found, who is then the partner.
   */
  constructor(api, settings, handlers) {
    this.#api = api
    this.#settings = settings
    this.#handlers = handlers
    find('#ale').onclick = () => this.#sendAle(find('#ale'))
    for (const button of find('#kinds').children) button.onclick = () => this.#sendAle(button, button.dataset.kind)
    this.#disarm = armed(find('#give-up'), 'I can’t make it', 'Really cancel? Your partner is notified', () => handlers.left(this.#slot))
    find('#started').onclick = () => this.#start()
    find('#again').onclick = () => this.#prefer()
    find('#seek').onclick = () => this.#seek()
  }

  get isShown() { return this.#slot !== null }
  get startsAt() { return this.#slot?.startsAt ?? null }

  enter(slot) {
    this.leave()
    Object.assign(document.body.dataset, { view: 'room' })
    this.#left = null
    this.#sent = this.#received = 0
    this.#tally()
    this.#disarm()
    setText(find('#news'), '')
    setText(find('#started'), 'I’ve started')
    this.#hasStarted = false
    this.#preferred = null
    this.update(slot)
    find('#room-title').focus()
    this.#api.learnClock().catch(() => {})
    navigator.wakeLock?.request('screen').then(lock => this.#lock = lock, () => {})
    this.#tick()
  }

  leave() {
    if (!this.#slot) return
    this.#unlink()
    this.#slot = null
    clearTimeout(this.#frame)
    this.#lock?.release()
    this.#lock = null
    find('#sky').replaceChildren()
    document.body.dataset.view = 'day'
  }

  /** Applies the schedule's state of the slot: a title may change, and a partner may come or go. `why` is the known reason. */
  update(slot, why = turnOf(this.#slot, slot)) {
    this.#slot = slot
    if (why) setText(find('#news'), why)
    // The user was alone in this room until now.
    if (slot.hasOther && this.#linkState === 'none') this.#linkedRoom = null
    setText(find('#own-title'), slot.title)
    setText(find('#room-title'), `${quoted(slot.title)} at ${slot.time}`)
    document.body.dataset.members = slot.hasOther ? 'two' : 'one'
    // Only the server knows whether a user without a partner has a room: if the partner was absent, or the user came too late.
    if (!slot.hasOther && (this.#isEarly || !slot.room)) {
      this.#unlink()
      this.#showLink(this.#isEarly ? 'early' : 'none')
    } else if (slot.room !== this.#linkedRoom) {
      this.#open(slot)
    } else {
      this.#showLink(this.#linkState)
    }
  }

  #unlink() {
    this.#link?.close()
    this.#link = this.#linkedRoom = null
    setText(find('#presence'), '')
  }

  /** Whether the room isn't open yet. */
  get #isEarly() {
    const { clock, lead } = this.#settings
    return this.#slot !== null && clock.now() < this.#slot.startsAt - lead
  }

  #open(slot) {
    this.#unlink()
    this.#linkedRoom = slot.room
    this.#showLink('waiting')
    // Not before the room opens by the server's clock, as far as it is known, because an early attempt is refused.
    const { clock, lead } = this.#settings
    const wait = Math.max(0, slot.startsAt - lead + Math.min(clock.uncertainty, 1000) + 300 - clock.now())
    this.#link = new RoomLink(this.#api, slot.room, slot.id, { wait, isUnsure: !slot.hasOther }, {
      state: state => {
        if (state !== 'open') setText(find('#presence'), '')
        this.#showLink(state)
      },
      ale: kind => this.#receiveAle(kind),
      presence: partner => setText(find('#presence'), PRESENCE_WORDS[partner] ?? ''),
      rematched: message => this.#handlers.rematched(message),
    })
  }

  #showLink(state) {
    this.#linkState = state
    const words = this.#slot.hasOther ? LINK_WORDS : { ...LINK_WORDS, ...ALONE_WORDS }
    setText(find('#link'), this.#isEarly && (state === 'waiting' || state === 'lost')
      ? 'The room opens shortly before the start.' : words[state])
    find('#link').dataset.state = state
    const { hasOther, partner } = this.#slot
    setText(find('#partner-title'), hasOther ? partner ?? '' : this.#isEarly || state === 'open' ? 'Nobody yet' : 'Nobody')
    for (const button of [find('#ale'), ...find('#kinds').children]) button.setAttribute('aria-disabled', state !== 'open')
  }

  // The countdown

  #tick() {
    const { clock, lead, lateJoin } = this.#settings
    const now = clock.now()
    const { startsAt, hasOther, room } = this.#slot
    show(find('#give-up'), hasOther && now < startsAt + lateJoin, find('#room-title'))
    show(find('#seek'), maySeek(this.#slot, this.#linkState, now, this.#settings), find('#room-title'))
    show(find('#started'), now >= startsAt && !this.#hasStarted, find('#room-title'))
    show(find('#again'), now >= startsAt && hasOther && room !== this.#preferred, find('#room-title'))
    const { left, phase, text, progress } = countdown(startsAt, now, lead)
    const disc = find('#disc')
    if (left !== this.#left || disc.dataset.phase !== phase) {
      const announcement = spoken(this.#left, left)
      if (announcement) setText(find('#spoken'), announcement)
      disc.dataset.phase = phase
      setText(find('#count'), text)
      // Restarts the animation of a new second.
      if (left <= LAST) find('#count').getAnimations().forEach(animation => { animation.cancel(); animation.play() })
      document.title = `${text} · ${quoted(this.#slot.title)}`
    }
    if (phase === 'going') setText(find('#count'), text)
    setText(find('#unit'), { wait: left < 100 ? 'seconds to go' : 'to go', last: '', start: '', going: text === 'Go on' ? '' : 'since the start' }[phase])
    this.#left = left
    disc.style.setProperty('--progress', progress.toFixed(4))
    // Just after the next whole second, and in between so that the halves move smoothly.
    this.#frame = setTimeout(() => this.#tick(), Math.min(200, 1000 - now % 1000 + 5))
  }

  /** Reports the user's start, once, for the history. */
  #start() {
    return this.#request(({ id }) => this.#api.post(`/task/${id}/started`), find('#started'), 'You have started. Well done.', () => this.#hasStarted = true)
  }

  /** Prefers this partner. */
  #prefer() {
    const text = 'If several people wait, this partner comes first. “Show how it went” has the list.'
    return this.#request(({ id }) => this.#api.post('/preferences', { taskId: id }), find('#again'), text, ({ room }) => this.#preferred = room)
  }

  /** Sends a request about the task, once; then its button disappears. */
  async #request(request, button, text, done) {
    const slot = this.#slot
    try {
      await request(slot)
      if (this.#slot?.id !== slot.id) return
      done(slot)
      setText(find('#news'), text)
      show(button, false, find('#room-title'))
    } catch (refusal) {
      setText(find('#news'), sentence(refusal, slot.time))
    }
  }

  /** Asks once. The day shows a found user by itself. */
  async #seek() {
    if (this.#isSeeking) return
    const slot = this.#slot
    this.#isSeeking = true
    // Clears the text first, so that the same text is announced again.
    setText(find('#news'), '')
    const why = await this.#handlers.seek(slot).then(isFound => isFound ? '' : 'Nobody is waiting now.', refusal => sentence(refusal, slot.time))
    this.#isSeeking = false
    if (why && this.#slot?.id === slot.id && !this.#slot.hasOther) setText(find('#news'), why)
  }

  // Ales, the Japanese word for cheers

  #sendAle(button, kind) {
    if (button.getAttribute('aria-disabled') === 'true' || !this.#link?.sendAle(kind)) {
      return setText(find('#sent'), this.#linkState === 'open' ? 'Not sent: the room can’t be reached.' : LINK_WORDS[this.#linkState])
    }
    this.#sent += 1
    this.#tally()
    setText(find('#sent'), this.#sent === 1 ? 'Your cheer is sent.' : `You have sent ${this.#sent} cheers.`)
    button.getAnimations({ subtree: true }).forEach(animation => { animation.cancel(); animation.play() })
    this.#fly('out', kind)
  }

  #receiveAle(kind) {
    this.#received += 1
    this.#tally()
    const count = `${this.#received} cheers`
    setText(find('#received'), KINDS[kind] ? `${KINDS[kind]} for you!${this.#received > 1 ? ` ${count} in all.` : ''}`
      : `${this.#received === 1 ? 'A cheer' : count} for you!`)
    this.#fly('in', kind)
  }

  #tally() {
    setText(find('#sent-count'), `${this.#sent}`)
    setText(find('#received-count'), `${this.#received}`)
    if (!this.#sent) setText(find('#sent'), '')
    if (!this.#received) setText(find('#received'), '')
  }

  #fly(way, kind) {
    const sky = find('#sky')
    if (sky.childElementCount >= FLYING || matchMedia('(prefers-reduced-motion: reduce)').matches) return
    const cheer = stamp('flying')
    cheer.classList.add(way)
    if (kind in KINDS && kind !== 'thumb') cheer.firstElementChild.setAttribute('href', `#${kind}`)
    cheer.style.setProperty('--drift', (Math.random() * 2 - 1).toFixed(2))
    cheer.addEventListener('animationend', () => cheer.remove())
    sky.append(cheer)
  }
}
