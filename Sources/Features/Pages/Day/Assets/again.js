// Whom one would like to meet again, and whom not: said of somebody one had for a partner, listed, and undone. The other isn't told.
import { armed, find, part, say, show, stamp } from './dom.js'
import { quoted } from './quote.js'
import { clockFace, dayOf, longDate } from './time.js'

const LISTS = ['preferences', 'blocks']
/** What there is to say of a promise's partner, and of the entries of a list. */
const isOf = ({ startsAt, partnerTask }) => entry => entry.startsAt === startsAt && entry.title === partnerTask

export class Again {
  #api
  #zone
  #try
  #lists = { preferences: [], blocks: [] }

  /** `attempt(work)` does what gives something to say, or throws a `Refusal`; then all is drawn anew. */
  constructor(api, { zone }, attempt) {
    this.#api = api
    this.#zone = zone
    this.#try = attempt
  }

  /** Reads both lists, which come by the hundred, and shows them. */
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

  /** What one may say of the partner in a past promise's row. */
  offer(row, task) {
    const { id, partnerTask } = task
    const [prefer, block] = [part(row, 'prefer'), part(row, 'block')]
    part(row, 'partner').hidden = !partnerTask
    if (!partnerTask) return
    say(part(row, 'who'), `With ${quoted(partnerTask)}.`)
    prefer.hidden = this.#lists.preferences.some(isOf(task))
    block.hidden = this.#lists.blocks.some(isOf(task))
    prefer.setAttribute('aria-label', `Prefer who started ${partnerTask}`)
    prefer.onclick = () => this.#try(async () => {
      await this.#api.post('/preferences', { taskId: id })
      return `Of several who wait, who started ${quoted(partnerTask)} comes first for you.`
    })
    armed(block, 'Block', `Really block who started ${quoted(partnerTask)}`, () => this.#try(async () => {
      await this.#api.post('/blocks', { taskId: id })
      return `You won’t meet who started ${quoted(partnerTask)} again.`
    }))
  }

  #row(list, { id, name, title, startsAt }) {
    const row = stamp('one-person')
    const at = Date.parse(startsAt)
    say(part(row, 'title'), name ?? title)
    say(part(row, 'when'), startsAt ? `${longDate(dayOf(at, this.#zone))}, ${clockFace(at, this.#zone)}` : '')
    part(row, 'undo').setAttribute('aria-label', `Undo: ${name ?? title}`)
    part(row, 'undo').onclick = () => this.#try(async () => {
      await this.#api.delete(`/${list}/${id}`)
      return 'Undone.'
    })
    return row
  }
}
