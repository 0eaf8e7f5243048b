// The promise, and the device's secret.
import { readDevice } from './device.js'
import { armed, copy, find, say, show, stamp } from './dom.js'
import { quoted } from './quote.js'
import { WEEKDAYS, longDate, weekdayName, weekdayOf } from './time.js'
import { sentence, titleFault } from './words.js'

/** The oath: registers, changes or takes back the task of one slot. */
export class PromiseDialog {
  #dialog = find('#promise')
  #field = find('#title')
  #slot = null
  /** Counts how often it was opened: what was asked in one opening is not said in the next. */
  #opening = 0
  #disarm
  #told

  /**
   * `told` has `register(slot, title, { days, isInviting })`, `cancel(slot)`, `leave(slot)` and `move(slot, title, startsAt)`, which give what there is to
   * say or throw a `Refusal`; `targets(slot)`, the slots that it may move to; `rhythm(slot)`, what series it belongs to; `done(text, slot)`,
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
    this.#disarm = armed(find('#cant'), 'I can’t make it', 'Really take it back', () => this.#try(slot => this.#told.leave(slot)))
    find('#repeats').onchange = () => {
      show(find('#weekdays'), find('#repeats').checked)
      // A series invites nobody.
      show(find('#inviting'), !find('#repeats').checked)
    }
    find('#weekdays').append(...WEEKDAYS.map(name => {
      const choice = stamp('weekday-choice')
      choice.firstElementChild.value = name
      choice.lastElementChild.textContent = weekdayName(name).slice(0, 3)
      choice.firstElementChild.setAttribute('aria-label', weekdayName(name))
      return choice
    }))
    this.#field.oninput = () => this.#complain('')
  }

  get slot() { return this.#dialog.open ? this.#slot : null }

  open(slot, state, day) {
    this.#opening += 1
    this.#showBusy(false)
    this.#complain('')
    this.#field.value = slot.title
    this.#disarm()
    find('#move-to').value = ''
    find('#repeats').checked = find('#invites').checked = false
    show(find('#weekdays'), false)
    // What repeats begins with this day.
    for (const box of this.#boxes) box.checked = box.disabled = box.value === weekdayOf(day)
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
    show(find('#cant'), state === 'partner', this.#field)
    show(find('#weekly'), !slot.isSecond && (state === 'free' || state === 'somebody'), this.#field)
    show(find('#inviting'), ['free', 'somebody', 'own'].includes(state) && (find('#weekly').hidden || !find('#repeats').checked), this.#field)
    if (find('#weekly').hidden) show(find('#weekdays'), false, this.#field)
    this.#offer(state === 'own' || state === 'partner' ? this.#told.targets(slot) : [])
    const rhythm = this.#told.rhythm(slot)
    const series = rhythm && state === 'own' ? ` It is one of ${rhythm}: taking it back leaves out this day alone.` : ''
    say(find('#oath-note'), {
      free: 'Somebody else may join you; then you are partners.',
      somebody: 'Somebody has promised to start something then. You will be partners.',
      own: `Nobody else yet. While you are alone, you can take it back.${series}`,
      partner: `Your partner will start ${quoted(slot.partner)}, and counts on you. If you can’t make it, they are told at once.`,
      closed: 'Registration has closed.',
      late: 'Somebody may wait there without a partner. Then you are partners at once.',
    }[state] ?? '')
  }

  get #boxes() { return find('#weekdays').querySelectorAll('input') }

  /** Where it may move to. What is chosen stays chosen, as long as it is offered. */
  #offer(targets) {
    const select = find('#move-to')
    show(find('#moving'), targets.length > 0, this.#field)
    const options = [{ time: 'No, leave it', startsAt: '' }, ...targets]
    if (options.map(({ startsAt }) => `${startsAt}`).join() === [...select.options].map(({ value }) => value).join()) return
    const chosen = select.value
    select.replaceChildren(...options.map(({ time, startsAt }) => new Option(time, startsAt)))
    select.value = options.some(({ startsAt }) => `${startsAt}` === chosen) ? chosen : ''
  }

  async #submit() {
    const title = this.#field.value.trim()
    const fault = titleFault(title)
    if (fault) return this.#complain(fault)
    const to = find('#moving').hidden ? '' : find('#move-to').value
    const days = find('#weekly').hidden || !find('#repeats').checked
      ? [] : [...this.#boxes].filter(box => box.checked).map(box => box.value)
    const isInviting = !find('#inviting').hidden && find('#invites').checked
    await this.#try(slot => to ? this.#told.move(slot, title, +to) : this.#told.register(slot, title, { days, isInviting }))
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
      this.#told.done(text, slot)
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
    find('#copy').onclick = async () => say(
      find('#device-said'), await copy(own) ? 'Copied. Paste it in the other browser, under “This device”.' : 'It is selected: copy it with Ctrl-C.')
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
}
