// The dialogs for a task and for the device's secret.
import { readDevice } from './device.js'
import { armed, copy, find, setText, show, stamp } from './dom.js'
import { quoted } from './quote.js'
import { WEEKDAYS, longDate, weekdayName, weekdayOf } from './time.js'
import { sentence, titleFault } from './words.js'

/** The dialog that registers, changes or cancels the task of one slot. */
export class TaskDialog {
  #dialog = find('#promise')
  #field = find('#title')
  #slot = null
  /** The number of times the dialog was opened. An answer to an earlier opening isn't shown in a later one. */
  #opening = 0
  #disarm
  #handlers

  /**
   * `handlers` has `register(slot, title, { days, isInviting })`, `cancel(slot)`, `leave(slot)` and `move(slot, title, startsAt)`, which return a message
   * or throw a `Refusal`; `targets(slot)`, the slots that the task can move to; `rhythm(slot)`, the name of its series; `done(text, slot)`,
   * called after the dialog has closed; and `failed(text)`, called for a request whose dialog was closed before.
   */
  constructor(handlers) {
    this.#handlers = handlers
    find('#task-form').addEventListener('submit', event => {
      event.preventDefault()
      this.#submit()
    })
    find('#not-now').onclick = () => this.#dialog.close()
    find('#take-back').onclick = () => this.#try(slot => this.#handlers.cancel(slot))
    this.#disarm = armed(find('#cant'), 'I can’t make it', 'Really cancel the task', () => this.#try(slot => this.#handlers.leave(slot)))
    find('#repeats').onchange = () => {
      show(find('#weekdays'), find('#repeats').checked)
      // A weekly task has no invitation.
      show(find('#inviting'), !find('#repeats').checked)
    }
    find('#weekdays').append(...WEEKDAYS.map(name => {
      const choice = stamp('weekday-choice')
      choice.firstElementChild.value = name
      choice.lastElementChild.textContent = weekdayName(name).slice(0, 3)
      choice.firstElementChild.setAttribute('aria-label', weekdayName(name))
      return choice
    }))
    this.#field.oninput = () => this.#showError('')
  }

  get slot() { return this.#dialog.open ? this.#slot : null }

  open(slot, state, day) {
    this.#opening += 1
    this.#showBusy(false)
    this.#showError('')
    this.#field.value = slot.title
    this.#disarm()
    find('#move-to').value = ''
    find('#repeats').checked = find('#invites').checked = false
    show(find('#weekdays'), false)
    // A weekly task always includes this day.
    for (const box of this.#boxes) box.checked = box.disabled = box.value === weekdayOf(day)
    this.update(slot, state)
    setText(find('#task-form-day'), longDate(day))
    this.#dialog.showModal()
    this.#field.focus()
    this.#field.select()
  }

  /** Shows the slot's new state while the dialog is open. */
  update(slot, state) {
    this.#slot = slot
    setText(find('#task-form-time'), slot.time)
    setText(find('#swear'), slot.isOwn ? 'Change it' : 'Promise')
    show(find('#take-back'), state === 'own', this.#field)
    show(find('#cant'), state === 'partner', this.#field)
    show(find('#weekly'), !slot.isSecond && (state === 'free' || state === 'somebody'), this.#field)
    show(find('#inviting'), ['free', 'somebody', 'own'].includes(state) && (find('#weekly').hidden || !find('#repeats').checked), this.#field)
    if (find('#weekly').hidden) show(find('#weekdays'), false, this.#field)
    this.#offer(state === 'own' || state === 'partner' ? this.#handlers.targets(slot) : [])
    const rhythm = this.#handlers.rhythm(slot)
    const series = rhythm && state === 'own' ? ` It belongs to the weekly task “${rhythm}”. If you cancel it, only this day is left out.` : ''
    setText(find('#task-form-note'), {
      free: 'Somebody may join you and become your partner.',
      somebody: 'Somebody has promised to start something at this time. You will be partners.',
      own: `You have no partner yet. You can cancel the task until somebody joins you.${series}`,
      partner: `Your partner will start ${quoted(slot.partner)} and counts on you. If you can’t make it, they are notified at once.`,
      closed: 'Registration has closed.',
      late: 'If somebody waits here without a partner, you become partners at once.',
    }[state] ?? '')
  }

  get #boxes() { return find('#weekdays').querySelectorAll('input') }

  /** Offers slots to move to. A choice stays selected while it is offered. */
  #offer(targets) {
    const select = find('#move-to')
    show(find('#moving'), targets.length > 0, this.#field)
    const options = [{ time: 'Don’t move it', startsAt: '' }, ...targets]
    if (options.map(({ startsAt }) => `${startsAt}`).join() === [...select.options].map(({ value }) => value).join()) return
    const chosen = select.value
    select.replaceChildren(...options.map(({ time, startsAt }) => new Option(time, startsAt)))
    select.value = options.some(({ startsAt }) => `${startsAt}` === chosen) ? chosen : ''
  }

  async #submit() {
    const title = this.#field.value.trim()
    const fault = titleFault(title)
    if (fault) return this.#showError(fault)
    const to = find('#moving').hidden ? '' : find('#move-to').value
    const days = find('#weekly').hidden || !find('#repeats').checked
      ? [] : [...this.#boxes].filter(box => box.checked).map(box => box.value)
    const isInviting = !find('#inviting').hidden && find('#invites').checked
    await this.#try(slot => to ? this.#handlers.move(slot, title, +to) : this.#handlers.register(slot, title, { days, isInviting }))
  }

  async #try(work) {
    if (this.#dialog.getAttribute('aria-busy') === 'true') return
    const [slot, opening] = [this.#slot, this.#opening]
    const isStillOpen = () => this.#dialog.open && opening === this.#opening
    this.#showBusy(true)
    try {
      const text = await work(slot)
      if (isStillOpen()) this.#dialog.close()
      // Screen readers don't read text behind an open dialog.
      this.#handlers.done(text, slot)
    } catch (refusal) {
      const text = sentence(refusal, slot.time)
      if (isStillOpen()) this.#showError(text)
      else this.#handlers.failed(text)
    }
    if (opening === this.#opening) this.#showBusy(false)
  }

  #showBusy(isBusy) {
    this.#dialog.setAttribute('aria-busy', isBusy)
    this.#dialog.querySelectorAll('button').forEach(button => button.setAttribute('aria-disabled', isBusy))
  }

  #showError(text) {
    setText(find('#title-error'), text)
    this.#field.setAttribute('aria-invalid', text !== '')
    if (text && this.#dialog.open) this.#field.focus()
  }
}

/** The dialog that shows, copies, replaces and erases the device's id. The id isn't passed in links, because histories and proxies keep them. */
export class DeviceDialog {
  #dialog = find('#device')
  #handlers

  /** `handlers` has `become(device)` and `erase()`. */
  constructor(device, handlers) {
    this.#handlers = handlers
    const [own, other] = [find('#device-id'), find('#other-id')]
    find('#open-device').onclick = () => {
      own.value = device
      other.value = ''
      setText(find('#device-status'), '')
      find('#erase').dataset.armed = 'false'
      setText(find('#erase'), 'Erase my data')
      this.#dialog.showModal()
    }
    find('#close-device').onclick = () => this.#dialog.close()
    find('#copy').onclick = async () => setText(
      find('#device-status'), await copy(own) ? 'Copied. Paste it in the other browser, under “Manage this device”.' : 'The key is selected. Copy it with Ctrl-C.')
    find('#device-form').addEventListener('submit', event => {
      event.preventDefault()
      const id = readDevice(other.value)
      other.setAttribute('aria-invalid', !id)
      if (!id) return setText(find('#device-status'), 'A key has 1 to 128 characters.')
      this.#try(() => this.#handlers.become(id))
    })
    find('#erase').onclick = event => {
      // Ignores the second half of a double click.
      if (event.detail > 1) return
      const button = find('#erase')
      if (button.dataset.armed !== 'true') {
        button.dataset.armed = 'true'
        setText(find('#device-status'), 'This erases all your data on this server. You can’t undo it.')
        return setText(button, 'Really erase my data')
      }
      this.#try(() => this.#handlers.erase())
    }
  }

  async #try(work) {
    try {
      await work()
    } catch (refusal) {
      setText(find('#device-status'), sentence(refusal, ''))
    }
  }
}
