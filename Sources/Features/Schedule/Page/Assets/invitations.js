// Inviting somebody to start at the same time, and accepting an invitation. The link's secret is in its fragment, which browsers don't send.
import { copy, find, setText, show } from './dom.js'
import { quoted } from './quote.js'
import { clockFace, dayOf, longDate } from './time.js'
import { sentence, titleFault } from './words.js'

/** Returns the invitation in an address's fragment; `null` if there is none. */
export const invitationIn = hash => /^#invitation\/([0-9a-f]{32})$/.exec(hash)?.[1] ?? null

/** Returns the link to send to a guest. */
export class InvitationDialog {
  #dialog = find('#invitation')
  #text = ''

  constructor() {
    const link = find('#invitation-link')
    find('#close-invitation').onclick = () => this.#dialog.close()
    find('#copy-invitation').onclick = async () => setText(
      find('#invitation-status'), await copy(link) ? 'Copied. Send it to the person that you invite.' : 'The link is selected. Copy it with Ctrl-C.')
    find('#share-invitation').onclick = () => navigator.share({ text: this.#text, url: link.value }).catch(() => {})
  }

  open(address, title, time) {
    this.#text = `I will start ${quoted(title)} at ${time}. Will you start something at the same time?`
    find('#invitation-link').value = address
    setText(find('#invitation-status'), '')
    // Phones have it.
    show(find('#share-invitation'), 'share' in navigator)
    this.#dialog.showModal()
    find('#copy-invitation').focus()
  }
}

/** The dialog for a guest who has opened the link. */
export class AcceptDialog {
  #dialog = find('#guest')
  #field = find('#guest-own')
  #api
  #zone
  #token = null

  /** `handlers` has `accepted(startsAt, text)`, and `closed()`. */
  constructor(api, { zone }, handlers) {
    this.#api = api
    this.#zone = zone
    find('#guest-no').onclick = () => this.#dialog.close()
    this.#dialog.addEventListener('close', () => handlers.closed())
    find('#guest-form').addEventListener('submit', async event => {
      event.preventDefault()
      const task = await this.#accept()
      if (!task) return
      this.#dialog.close()
      handlers.accepted(Date.parse(task.startsAt), `Promised. Your partner will start ${quoted(task.partnerTitle)} at the same time.`)
    })
  }

  async open(token) {
    this.#token = token
    setText(find('#guest-error'), '')
    setText(find('#guest-what'), 'Looking…')
    for (const id of ['guest-task', 'guest-yes']) find(`#${id}`).hidden = true
    if (!this.#dialog.open) this.#dialog.showModal()
    try {
      const { title, startsAt } = await this.#api.request('GET', `/invitations/${token}`)
      const at = Date.parse(startsAt)
      const time = clockFace(at, this.#zone)
      setText(find('#guest-what'), `Somebody will start ${quoted(title)} on ${longDate(dayOf(at, this.#zone))} at ${time} in your time zone, and invites you as a partner.`)
      setText(find('#guest-time'), time)
      for (const id of ['guest-task', 'guest-yes']) find(`#${id}`).hidden = false
      this.#field.focus()
    } catch (refusal) {
      setText(find('#guest-what'), sentence(refusal, 'that time'))
    }
  }

  /** The guest's own task, or `null`. */
  async #accept() {
    const title = this.#field.value.trim()
    const fault = titleFault(title)
    setText(find('#guest-error'), fault)
    if (fault || this.#dialog.getAttribute('aria-busy') === 'true') return null
    this.#dialog.setAttribute('aria-busy', true)
    try {
      return await this.#api.post(`/invitations/${this.#token}`, { title, timeZone: this.#zone })
    } catch (refusal) {
      setText(find('#guest-error'), sentence(refusal, 'that time'))
      return null
    } finally {
      this.#dialog.setAttribute('aria-busy', false)
    }
  }
}
