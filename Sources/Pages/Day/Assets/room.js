// The waiting room and the room.
import { LAST, countdown, spoken } from './countdown.js'
import { find, say, stamp } from './dom.js'
import { RoomLink } from './link.js'
import { quoted } from './quote.js'

const FLYING = 24
const LINK_WORDS = {
  waiting: 'Opening the room…',
  open: 'You are in the room.',
  lost: 'The room is out of reach. Trying again…',
  over: 'The room is over. Well done.',
  none: 'Nobody else this time. You start all the same.',
  early: 'Somebody may still come.',
}

export class RoomView {
  #api
  #settings
  #slot = null
  #link = null
  #linkedRoom = null
  #linkState = 'waiting'
  #left = null
  #sent = 0
  #received = 0
  #frame = null
  #lock = null

  constructor(api, settings) {
    this.#api = api
    this.#settings = settings
    find('#ale').onclick = () => this.#sendAle()
  }

  get isShown() { return this.#slot !== null }
  get startsAt() { return this.#slot?.startsAt ?? null }

  enter(slot) {
    this.leave()
    Object.assign(document.body.dataset, { view: 'room' })
    this.#left = null
    this.#sent = this.#received = 0
    this.#tally()
    this.update(slot)
    find('#room-title').focus()
    this.#api.learnClock().catch(() => {})
    navigator.wakeLock?.request('screen').then(lock => this.#lock = lock, () => {})
    this.#tick()
  }

  leave() {
    if (!this.#slot) return
    this.#link?.close()
    this.#link = this.#linkedRoom = this.#slot = null
    clearTimeout(this.#frame)
    this.#lock?.release()
    this.#lock = null
    find('#sky').replaceChildren()
    document.body.dataset.view = 'day'
  }

  /** Takes in what the schedule says of the slot now: a title may change, a partner come. */
  update(slot) {
    this.#slot = slot
    say(find('#own-title'), slot.title)
    say(find('#partner-title'), slot.hasOther ? slot.partner ?? '' : this.#isEarly ? 'Nobody yet' : 'Nobody')
    say(find('#room-title'), `${quoted(slot.title)} at ${slot.time}`)
    document.body.dataset.company = slot.hasOther ? 'two' : 'one'
    if (slot.hasOther && slot.room && slot.room !== this.#linkedRoom) this.#open(slot)
    if (!slot.hasOther) this.#showLink(this.#isEarly ? 'early' : 'none')
  }

  /** Whether the room is yet to open. */
  get #isEarly() {
    const { clock, lead } = this.#settings
    return this.#slot !== null && clock.now() < this.#slot.startsAt - lead
  }

  #open(slot) {
    this.#link?.close()
    this.#linkedRoom = slot.room
    this.#showLink('waiting')
    // Not before the room is open by the server's clock, as far as that is known: who knocks early is refused.
    const { clock, lead } = this.#settings
    const wait = Math.max(0, slot.startsAt - lead + Math.min(clock.uncertainty, 1000) + 300 - clock.now())
    this.#link = new RoomLink(this.#api, slot.room, slot.id, wait, {
      state: state => this.#showLink(state),
      ale: () => this.#receiveAle(),
    })
  }

  #showLink(state) {
    this.#linkState = state
    say(find('#link'), this.#isEarly && (state === 'waiting' || state === 'lost')
      ? 'The room opens shortly before the start.' : LINK_WORDS[state])
    find('#link').dataset.state = state
    find('#ale').setAttribute('aria-disabled', state !== 'open')
  }

  // The countdown

  #tick() {
    const { clock, lead } = this.#settings
    const now = clock.now()
    const { left, phase, text, progress } = countdown(this.#slot.startsAt, now, lead)
    const disc = find('#disc')
    if (left !== this.#left || disc.dataset.phase !== phase) {
      const announcement = spoken(this.#left, left)
      if (announcement) say(find('#spoken'), announcement)
      disc.dataset.phase = phase
      say(find('#count'), text)
      // Runs the animation of a new second.
      if (left <= LAST) find('#count').getAnimations().forEach(animation => { animation.cancel(); animation.play() })
      document.title = `${text} · ${quoted(this.#slot.title)}`
    }
    if (phase === 'going') say(find('#count'), text)
    say(find('#unit'), { wait: left < 100 ? 'seconds to go' : 'to go', last: '', start: '', going: text === 'Go on' ? '' : 'since the start' }[phase])
    this.#left = left
    disc.style.setProperty('--progress', progress.toFixed(4))
    // Just behind the next whole second, and between them so that the halves glide.
    this.#frame = setTimeout(() => this.#tick(), Math.min(200, 1000 - now % 1000 + 5))
  }

  // Ales: cheers, as they are called in Japanese

  #sendAle() {
    if (find('#ale').getAttribute('aria-disabled') === 'true' || !this.#link?.sendAle()) {
      return say(find('#sent'), this.#linkState === 'open' ? 'Not sent: the room is out of reach.' : LINK_WORDS[this.#linkState])
    }
    this.#sent += 1
    this.#tally()
    say(find('#sent'), this.#sent === 1 ? 'Your cheer is sent.' : `You have sent ${this.#sent} cheers.`)
    find('#ale').getAnimations({ subtree: true }).forEach(animation => { animation.cancel(); animation.play() })
    this.#fly('out')
  }

  #receiveAle() {
    this.#received += 1
    this.#tally()
    say(find('#heard'), this.#received === 1 ? 'A cheer for you!' : `${this.#received} cheers for you!`)
    this.#fly('in')
  }

  #tally() {
    say(find('#sent-count'), `${this.#sent}`)
    say(find('#received-count'), `${this.#received}`)
    if (!this.#sent) say(find('#sent'), '')
    if (!this.#received) say(find('#heard'), '')
  }

  #fly(way) {
    const sky = find('#sky')
    if (sky.childElementCount >= FLYING || matchMedia('(prefers-reduced-motion: reduce)').matches) return
    const cheer = stamp('flying')
    cheer.classList.add(way)
    cheer.style.setProperty('--drift', (Math.random() * 2 - 1).toFixed(2))
    cheer.addEventListener('animationend', () => cheer.remove())
    sky.append(cheer)
  }
}
