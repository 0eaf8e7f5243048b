// The dialog about the last weeks, with the partners of past tasks. Only the person sees it.
import { Again } from './again.js'
import { find, part, setText, stamp } from './dom.js'
import { clockFace, dayOf, longDate } from './time.js'
import { sentence } from './words.js'

const SHOWN = 50
const OUTCOMES = { kept: 'kept', missed: 'missed', letDown: 'your partner had left' }

/** Returns "3 kept, 1 missed. 2 kept in a row." */
export function summaryOf({ kept, missed, letDown, streak }) {
  const parts = [`${kept} kept`, `${missed} missed`, ...letDown ? [`${letDown} left by your partner`] : []]
  return `${parts.join(', ')}.${streak > 1 ? ` ${streak} kept in a row.` : ''}`
}

export class PastDialog {
  #dialog = find('#past')
  #api
  #zone
  #again

  constructor(api, { zone }) {
    this.#api = api
    this.#zone = zone
    this.#again = new Again(api, { zone }, work => this.#try(work))
    find('#open-past').onclick = () => this.open()
    find('#close-past').onclick = () => this.#dialog.close()
  }

  async open() {
    setText(find('#past-status'), '')
    await this.#load().catch(refusal => setText(find('#past-status'), sentence(refusal)))
    this.#dialog.showModal()
    find('#past-title').focus()
  }

  async #load() {
    const [past] = await Promise.all([this.#api.get('/history'), this.#again.load()])
    setText(find('#past-sum'), past.tasks.length ? summaryOf(past) : 'No task has started yet.')
    find('#past-list').replaceChildren(...past.tasks.slice(0, SHOWN).map(task => this.#row(task)))
  }

  /** The pressed button may be gone when the request has finished. */
  async #try(work) {
    try {
      const text = await work()
      await this.#load()
      setText(find('#past-status'), text)
      find('#past-title').focus()
    } catch (refusal) {
      setText(find('#past-status'), sentence(refusal))
    }
  }

  #row(task) {
    const { title, startsAt, outcome, startedAt, attendance } = task
    const row = stamp('one-past')
    const at = Date.parse(startsAt)
    setText(part(row, 'title'), title)
    setText(part(row, 'when'), `${longDate(dayOf(at, this.#zone))}, ${clockFace(at, this.#zone)}`)
    setText(part(row, 'outcome'), (OUTCOMES[outcome] ?? (startedAt ? 'started' : 'under way')) + (outcome === 'kept' && attendance === 'late' ? ', late' : ''))
    this.#again.offer(row, task)
    return row
  }
}
