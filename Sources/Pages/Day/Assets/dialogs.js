// The promise, and the device's secret.
import { readDevice } from './device.js'
import { find, say, show } from './dom.js'
import { quoted } from './quote.js'
import { longDate } from './time.js'
import { sentence, titleFault } from './words.js'

/** The oath: registers, changes or takes back the task of one slot. */
export class PromiseDialog {
  #dialog = find('#promise')
  #field = find('#title')
  #slot = null
  /** Counts how often it was opened: what was asked in one opening is not said in the next. */
  #opening = 0
  #told

  /**
   * `told` has `register(slot, title)` and `cancel(slot)`, which give what there is to say or throw a `Refusal`; `done(text)`,
   * when the dialog has closed; and `failed(text)`, for a request whose dialog is not there any more.
   */
  constructor(told) {
    this.#told = told
    find('#oath').addEventListener('submit', event => {
      event.preventDefault()
      this.#submit()
    })
    find('#not-now').onclick = () => this.#dialog.close()
    find('#take-back').onclick = () => this.#try(slot => this.#told.cancel(slot))
    this.#field.oninput = () => this.#complain('')
  }

  get slot() { return this.#dialog.open ? this.#slot : null }

  open(slot, state, day) {
    this.#opening += 1
    this.#showBusy(false)
    this.#complain('')
    this.#field.value = slot.title
    this.update(slot, state)
    say(find('#oath-day'), longDate(day))
    this.#dialog.showModal()
    this.#field.focus()
    this.#field.select()
  }

  /** Takes in what has become of the slot while the dialog is open. */
  update(slot, state) {
    this.#slot = slot
    say(find('#oath-time'), slot.time)
    say(find('#swear'), slot.isOwn ? 'Change it' : 'I swear')
    show(find('#take-back'), state === 'own', this.#field)
    say(find('#oath-note'), {
      free: 'Somebody else may join you; then you are partners.',
      somebody: 'Somebody has promised to start something then. You will be partners.',
      own: 'Nobody else yet. While you are alone, you can take it back.',
      partner: `Your partner will start ${quoted(slot.partner)}. With a partner, a promise is kept.`,
      closed: 'Registration has closed.',
    }[state] ?? '')
  }

  async #submit() {
    const title = this.#field.value.trim()
    const fault = titleFault(title)
    if (fault) return this.#complain(fault)
    await this.#try(slot => this.#told.register(slot, title))
  }

  async #try(work) {
    if (this.#dialog.getAttribute('aria-busy') === 'true') return
    const [slot, opening] = [this.#slot, this.#opening]
    const isStillOpen = () => this.#dialog.open && opening === this.#opening
    this.#showBusy(true)
    try {
      const text = await work(slot)
      if (isStillOpen()) this.#dialog.close()
      // Behind an open dialog nothing is read out.
      this.#told.done(text)
    } catch (refusal) {
      const text = sentence(refusal, slot.time)
      if (isStillOpen()) this.#complain(text)
      else this.#told.failed(text)
    }
    if (opening === this.#opening) this.#showBusy(false)
  }

  #showBusy(isBusy) {
    this.#dialog.setAttribute('aria-busy', isBusy)
    this.#dialog.querySelectorAll('button').forEach(button => button.setAttribute('aria-disabled', isBusy))
  }

  #complain(text) {
    say(find('#title-error'), text)
    this.#field.setAttribute('aria-invalid', text !== '')
    if (text && this.#dialog.open) this.#field.focus()
  }
}

/** The device's id: shown, copied, replaced, forgotten. By hand, not by a link: links are kept by histories and proxies. */
export class DeviceDialog {
  #dialog = find('#device')
  #told

  /** `told` has `become(device)` and `forget()`. */
  constructor(device, told) {
    this.#told = told
    const [own, other] = [find('#device-id'), find('#other-id')]
    find('#open-device').onclick = () => {
      own.value = device
      other.value = ''
      say(find('#device-said'), '')
      find('#forget').dataset.armed = 'false'
      say(find('#forget'), 'Forget me')
      this.#dialog.showModal()
    }
    find('#close-device').onclick = () => this.#dialog.close()
    find('#copy').onclick = () => this.#copy(own)
    find('#device-form').addEventListener('submit', event => {
      event.preventDefault()
      const id = readDevice(other.value)
      other.setAttribute('aria-invalid', !id)
      if (!id) return say(find('#device-said'), 'That is no key: 1 to 128 characters.')
      this.#try(() => this.#told.become(id))
    })
    find('#forget').onclick = event => {
      // The second half of a double click decides nothing.
      if (event.detail > 1) return
      const button = find('#forget')
      if (button.dataset.armed !== 'true') {
        button.dataset.armed = 'true'
        say(find('#device-said'), 'This erases your key and your promises without a partner, and can’t be undone.')
        return say(button, 'Really forget me')
      }
      this.#try(() => this.#told.forget())
    }
  }

  async #try(work) {
    try {
      await work()
    } catch (refusal) {
      say(find('#device-said'), sentence(refusal, ''))
    }
  }

  async #copy(field) {
    field.select()
    try {
      // The clipboard is there on https only; the old way is everywhere.
      if (navigator.clipboard) await navigator.clipboard.writeText(field.value)
      else if (!document.execCommand('copy')) throw new Error('not copied')
      say(find('#device-said'), 'Copied. Paste it in the other browser, under “This device”.')
    } catch {
      say(find('#device-said'), 'It is selected: copy it with Ctrl-C.')
    }
  }
}
