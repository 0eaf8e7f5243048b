// Preferred and blocked partners: added from past tasks, listed, and undone. The other person isn't notified.
import { armed, find, part, setText, show, stamp } from './dom.js'
import { quoted } from './quote.js'
import { clockFace, dayOf, longDate } from './time.js'

const LISTS = ['preferences', 'blocks']
/** Returns a test whether a list's entry is the partner of a task. */
const isOf = ({ startsAt, partnerTask }) => entry => entry.startsAt === startsAt && entry.title === partnerTask

export class Again {
  #api
  #zone
  #try
  #lists = { preferences: [], blocks: [] }

  /** `attempt(work)` runs work that returns a message or throws a `Refusal`, and then draws everything again. */
  constructor(api, { zone }, attempt) {
    this.#api = api
    this.#zone = zone
    this.#try = attempt
  }

  /** Reads both lists, 100 entries at a time, and shows them. */
  async load() {
    for (const name of LISTS) {
      const all = []
      for (let before; before !== null;) {
        const answer = await this.#api.get(`/${name}`, before ? { before } : {})
        all.push(...answer[name])
        before = answer.next ?? null
      }
      this.#lists[name] = all
      find(`#${name} ol`).replaceChildren(...all.map(entry => this.#row(name, entry)))
      show(find(`#${name}`), all.length > 0, find('#past-title'))
    }
  }

  /** Shows the buttons about the partner in a past task's row. */
  offer(row, task) {
    const { id, partnerTask } = task
    const [prefer, block] = [part(row, 'prefer'), part(row, 'block')]
    part(row, 'partner').hidden = !partnerTask
    if (!partnerTask) return
    setText(part(row, 'who'), `With ${quoted(partnerTask)}.`)
    prefer.hidden = this.#lists.preferences.some(isOf(task))
    block.hidden = this.#lists.blocks.some(isOf(task))
    prefer.setAttribute('aria-label', `Prefer the partner who started ${partnerTask}`)
    prefer.onclick = () => this.#try(async () => {
      await this.#api.post('/preferences', { taskId: id })
      return `If several people wait, the partner who started ${quoted(partnerTask)} comes first.`
    })
    armed(block, 'Block', `Really block the partner who started ${quoted(partnerTask)}`, () => this.#try(async () => {
      await this.#api.post('/blocks', { taskId: id })
      return `You won’t meet the partner who started ${quoted(partnerTask)} again.`
    }))
  }

  #row(list, { id, name, title, startsAt }) {
    const row = stamp('one-person')
    const at = Date.parse(startsAt)
    setText(part(row, 'title'), name ?? title)
    setText(part(row, 'when'), startsAt ? `${longDate(dayOf(at, this.#zone))}, ${clockFace(at, this.#zone)}` : '')
    part(row, 'undo').setAttribute('aria-label', `Undo: ${name ?? title}`)
    part(row, 'undo').onclick = () => this.#try(async () => {
      await this.#api.delete(`/${list}/${id}`)
      return 'Undone.'
    })
    return row
  }
}
