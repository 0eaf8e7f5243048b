// Requests about the user's tasks, and the texts for their results.
import { quoted } from './quote.js'
import { clockFace, isoOf } from './time.js'
import { Refusal } from './words.js'

export class TaskActions {
  #api
  #settings
  #reload

  /** `reload()` resolves when the day shows the current state. */
  constructor(api, settings, reload) {
    this.#api = api
    this.#settings = settings
    this.#reload = reload
  }

  /** `days`: weekdays by the server's names, or none for a single task. With `isInviting` the answer has the link, unless there is a partner. */
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

  /** Looks for a waiting user in a slot that has begun. Returns whether there is one, who is then the partner. */
  async seek(slot) {
    try {
      return (await this.#heeded(this.#api.post('/task', this.#taskOf(slot, slot.title)))).isPaired
    } catch (refusal) {
      if (refusal.code === 'registration_closed') return false
      throw refusal
    }
  }

  /** Cancels a matched task. */
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

  /** Returns a request's result once the day shows it. The day is also read after a refusal, or if an answer was lost, since the request may have succeeded. */
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
