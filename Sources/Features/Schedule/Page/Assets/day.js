// The day: its slots, and the next task.
import { find, part, setText, show, stamp } from './dom.js'
import { quoted } from './quote.js'
import { WORDS, detailOf, nextTask, stateOf } from './slots.js'
import { clockFace, inWords, longDate, nextDays, shortWeekday, weekday } from './time.js'

const DAYS = 7
const ACTIONS = { free: 'Promise', somebody: 'Join', own: 'Change', partner: 'View', room: 'Enter', late: 'Join late' }

export class DayView {
  #settings
  #handlers
  #rows = new Map()
  /** The rows of hours that are shown before the day is loaded. */
  #blank = [...find('#slots').children]
  #days = []

  /** `handlers` has `chose(slot, state)`, `choseDay(day)`. */
  constructor(settings, handlers) {
    this.#settings = settings
    this.#handlers = handlers
  }

  /** Shows the days to choose from, starting with today. */
  showDays(today, day) {
    const days = nextDays(today, DAYS)
    if (this.#days[0] !== today) {
      this.#days = days
      find('#days').replaceChildren(...days.map((date, index) => {
        const item = stamp('weekday')
        const button = item.firstElementChild
        part(item, 'name').textContent = index ? shortWeekday(date) : 'Today'
        part(item, 'number').textContent = +date.slice(8)
        button.setAttribute('aria-label', `${index === 1 ? 'Tomorrow' : index ? weekday(date) : 'Today'}, ${longDate(date)}`)
        button.onclick = () => this.#handlers.choseDay(date)
        return item
      }))
    }
    days.forEach((date, index) => {
      const button = find('#days').children[index].firstElementChild
      if (date === day) button.setAttribute('aria-current', 'date')
      else button.removeAttribute('aria-current')
    })
    const name = ['Today', 'Tomorrow'][days.indexOf(day)]
    setText(find('#date'), name ?? weekday(day))
    setText(find('#long-date'), longDate(day))
  }

  /** Shows the slots as of `now`. Rows keep their elements, so they keep the focus. */
  show(slots, now, isStale) {
    const list = find('#slots')
    list.classList.toggle('stale', isStale)
    if (slots.length && !this.#rows.size) list.replaceChildren()
    if (!slots.length && this.#rows.size) this.#clear(list)
    const keys = new Set(slots.map(slot => slot.key))
    for (const [key, row] of this.#rows) {
      if (keys.has(key)) continue
      row.remove()
      this.#rows.delete(key)
    }
    slots.forEach((slot, index) => {
      let row = this.#rows.get(slot.key)
      if (!row) {
        row = stamp('slot')
        row.dataset.key = slot.key
        part(row, 'time').textContent = slot.time
        this.#rows.set(slot.key, row)
      }
      if (list.children[index] !== row) list.insertBefore(row, list.children[index] ?? null)
      this.#update(row, slot, now)
    })
    this.#showNext(slots, now)
  }

  #clear(list) {
    const hadFocus = list.contains(document.activeElement)
    this.#rows.clear()
    list.replaceChildren(...this.#blank)
    if (hadFocus) find('#date').focus()
  }

  #update(row, slot, now) {
    const state = stateOf(slot, now, this.#settings)
    const button = row.firstElementChild
    const isInert = !(state in ACTIONS)
    const hadFocus = isInert && document.activeElement === button
    row.dataset.state = state
    row.classList.toggle('own', slot.isOwn)
    row.classList.toggle('alone', slot.isOwn && !slot.hasOther)
    row.classList.toggle('odd', slot.time.length > 5)
    setText(part(row, 'state'), WORDS[state])
    setText(part(row, 'detail'), detailOf(slot, state))
    setText(part(row, 'action'), ACTIONS[state] ?? '')
    button.disabled = isInert
    button.onclick = () => this.#handlers.chose(slot, stateOf(slot, this.#settings.clock.now(), this.#settings))
    if (hadFocus) find('#date').focus()
  }

  #showNext(slots, now) {
    const slot = nextTask(slots, now, this.#settings)
    show(find('#next'), slot !== null)
    show(find('#pitch'), slot === null)
    if (!slot) return
    const state = stateOf(slot, now, this.#settings)
    find('#next').dataset.state = state
    setText(find('#next-title'), `${quoted(slot.title)} at ${slot.time}`)
    setText(find('#next-partner'), slot.hasOther
      ? `Your partner will start ${quoted(slot.partner)}.` : 'You have no partner yet. Somebody may still join you.')
    const isOpen = state === 'room'
    show(find('#next-enter'), isOpen)
    find('#next-enter').onclick = () => this.#handlers.chose(slot, 'room')
    setText(find('#next-when'), slot.startsAt <= now ? 'Started' : inWords(slot.startsAt - now))
    if (isOpen && !slot.hasOther) setText(find('#next-partner'), 'You have no partner.')
  }

  /** Moves the keyboard focus to a slot's button, or to the date if the button is disabled. */
  focus(key) {
    const button = this.#rows.get(key)?.querySelector('button:enabled')
    const place = button ?? find('#date')
    place.focus()
  }
}

/** Returns "as of 14:03" in the person's time zone. */
export const asOfText = (asOf, zone) => `as of ${clockFace(Math.floor(asOf / 60_000) * 60_000, zone)}`
