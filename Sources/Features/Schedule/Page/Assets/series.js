// The dialog that lists, renames and ends weekly tasks.
import { armed, find, part, setText, stamp } from './dom.js'
import { quoted } from './quote.js'
import { clockFace, dayOf, longDate, weekdaysInWords } from './time.js'
import { sentence, titleFault } from './words.js'
import { zoneName } from './zone.js'

/** Returns a series' days and time, such as "Every weekday at 09:00". */
export const rhythmOf = series => `${weekdaysInWords(series.days)} at ${series.startTime}`

export class SeriesDialog {
  #dialog = find('#series')
  #api
  #settings
  #handlers
  #all = []

  /** `handlers` has `changed()`, called after the schedule has changed. */
  constructor(api, settings, handlers) {
    this.#api = api
    this.#settings = settings
    this.#handlers = handlers
    find('#open-series').onclick = () => this.open()
    find('#close-series').onclick = () => this.#dialog.close()
  }

  /** The series that a task belongs to. */
  of(task) { return this.#all.find(({ tasks }) => tasks.some(({ id }) => id === task)) ?? null }

  /** Reads the series. Returns the `Refusal` if that fails, otherwise `null`. */
  async load() {
    try {
      this.#all = (await this.#api.get('/series')).series
      return null
    } catch (refusal) {
      return refusal
    }
  }

  async open() {
    setText(find('#series-status'), '')
    const refusal = await this.load()
    this.#draw()
    if (refusal) setText(find('#series-status'), sentence(refusal))
    this.#dialog.showModal()
    find('#series-title').focus()
  }

  #draw() {
    find('#no-series').hidden = this.#all.length > 0
    find('#series-list').replaceChildren(...this.#all.map(series => this.#row(series)))
  }

  #row(series) {
    const { zone } = this.#settings
    const row = stamp('one-series')
    const form = row.querySelector('form')
    const [title, from, rename] = ['new-title', 'from', 'rename'].map(name => part(row, name))
    const [next] = series.tasks
    setText(part(row, 'title'), series.title)
    setText(part(row, 'when'), [
      `${rhythmOf(series)}${series.timeZone === zone ? '' : ` in ${zoneName(series.timeZone)}`}`,
      series.until ? `until ${longDate(series.until)}` : '', series.laterTitle ? `${quoted(series.laterTitle)} from ${longDate(series.laterFrom)}` : '',
    ].filter(Boolean).join(', '))
    const starts = next && Date.parse(next.startsAt)
    setText(part(row, 'next'), next ? `Next: ${longDate(dayOf(starts, zone))} at ${clockFace(starts, zone)}` : '')
    rename.setAttribute('aria-label', `Rename ${series.title}`)
    rename.onclick = () => {
      form.hidden = !form.hidden
      rename.setAttribute('aria-expanded', !form.hidden)
      title.value = series.title
      from.value = from.min = dayOf(this.#settings.clock.now(), series.timeZone)
      if (!form.hidden) title.focus()
    }
    form.addEventListener('submit', event => {
      event.preventDefault()
      const fault = titleFault(title.value.trim())
      if (fault) return setText(find('#series-status'), fault)
      this.#try(async () => {
        await this.#api.post(`/series/${series.id}`, { title: title.value.trim(), from: from.value || undefined })
        return `From that day on, the task is called ${quoted(title.value.trim())}.`
      })
    })
    armed(part(row, 'end'), 'End it', `Really end ${quoted(series.title)}`, () => this.#try(async () => {
      const { tasks } = await this.#api.delete(`/series/${series.id}`)
      const stay = tasks.length === 1 ? 'One task remains, because it has a partner.' : `${tasks.length} tasks remain, because they have partners.`
      return tasks.length ? `Ended. ${stay}` : 'Ended.'
    }))
    return row
  }

  async #try(work) {
    try {
      const text = await work()
      await this.load()
      this.#draw()
      setText(find('#series-status'), text)
      find('#series-title').focus()
      this.#handlers.changed()
    } catch (refusal) {
      setText(find('#series-status'), sentence(refusal))
    }
  }
}
