// What is asked of the server about one's promises; what there is to say of it then.
import { quoted } from './quote.js'
import { clockFace, isoOf } from './time.js'
import { Refusal } from './words.js'

export class Promises {
  #api
  #settings
  #reload

  /** `reload()` is done when the day shows what is. */
  constructor(api, settings, reload) {
    this.#api = api
    this.#settings = settings
    this.#reload = reload
  }

  /** `days`: of every week, by the server's names; none for a single promise. With `isInviting` the answer has the link, unless there is a partner. */
  async register(slot, title, { days = [], isInviting = false } = {}) {
    if (days.length) return this.#repeat(slot, title, days)
    const isLate = this.#settings.clock.now() >= slot.startsAt
    const task = await this.#heeded(this.#api.post('/task', {
      ...this.#taskOf(slot, title), ...isInviting && { invite: true },
    })).catch(refusal => {
      throw isLate && refusal.code === 'registration_closed' ? new Refusal(refusal.status, { code: 'nobody_waits' }) : refusal
    })
    const text = task.isPaired
      ? `Promised. Your partner at ${slot.time} will start ${quoted(task.partnerTitle)}.` : `Promised: ${quoted(title)} at ${slot.time}.`
    return { text, invitation: task.invitation && new URL(task.invitation, location.origin).href }
  }

  async #repeat(slot, title, days) {
    const { zone } = this.#settings
    const { tasks } = await this.#heeded(this.#api.post('/series', { title, startTime: slot.time, timeZone: zone, days }))
    return { text: `Promised: ${quoted(title)} at ${slot.time}, every week. The first ${tasks.length} tasks are in your schedule.` }
  }

  async cancel(slot) {
    await this.#heeded(this.#api.post('/task/delete', this.#taskOf(slot, slot.title)))
    return `Cancelled: ${quoted(slot.title)} at ${slot.time}.`
  }

  /** Whether somebody waits at what has begun: then they are the partner. */
  async seek(slot) {
    try {
      return (await this.#heeded(this.#api.post('/task', this.#taskOf(slot, slot.title)))).isPaired
    } catch (refusal) {
      if (refusal.code === 'registration_closed') return false
      throw refusal
    }
  }

  /** Takes back what somebody counts on. */
  async leave(slot) {
    await this.#heeded(this.#api.delete(`/task/${slot.id}`, { leave: true }))
    return `Cancelled: ${quoted(slot.title)} at ${slot.time}. Your partner is notified.`
  }

  async move(slot, title, startsAt) {
    const { zone } = this.#settings
    if (title !== slot.title) await this.#api.post('/task', this.#taskOf(slot, title))
    const task = await this.#heeded(this.#api.post(`/task/${slot.id}/move`, { startsAt: isoOf(startsAt), timeZone: zone }))
    const partner = task.isPaired ? ` Your partner will start ${quoted(task.partnerTitle)}.` : ''
    return `Moved: ${quoted(title)} is at ${clockFace(startsAt, zone)} now.${partner}`
  }

  #taskOf(slot, title) {
    return { title, startsAt: isoOf(slot.startsAt), timeZone: this.#settings.zone }
  }

  /** What a request gives, once the day shows it. The day is asked for also after a no, or a silence that may have been a yes. */
  async #heeded(request) {
    try {
      const answer = await request
      await this.#reload()
      return answer
    } catch (refusal) {
      this.#reload()
      throw refusal
    }
  }
}
