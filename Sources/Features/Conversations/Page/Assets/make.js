// The dialog that starts a conversation with one or more people, or sends one message to several conversations.
import { newDevice } from './device.js'
import { find, setText, stamp } from './dom.js'
import { isName } from './talks.js'
import { sentence } from './words.js'

const SHOWN = 6
const MOST_TARGETS = 20
const ACTIONS = { person: 'Open', group: 'Create the group', several: 'Send' }

export class MakeDialog {
  #handlers
  #dialog = find('#make')
  #me = null
  #chosen = []
  /** The id that makes a repeated request for the same group harmless. */
  #id = null
  #asked = 0

  /**
   * `handlers` has `names(prefix)`, which resolves with names; `make(participants, id)` and `send(conversations, content)`, which resolve
   * when the dialog may close.
   */
  constructor(handlers) {
    this.#handlers = handlers
    find('#not-now').onclick = () => this.#dialog.close()
    find('#make-form').addEventListener('submit', event => {
      event.preventDefault()
      this.#submit().catch(refusal => this.#showError(sentence(refusal)))
    })
    find('#make-form').addEventListener('change', ({ target }) => target.name === 'kind' && this.#draw())
    find('#who').addEventListener('input', () => this.#look())
  }

  get #kind() { return find('#make-form').elements.kind.value }

  /** `talks`: the conversations that a message can be sent to. */
  open(me, talks) {
    this.#me = me
    this.#choose([])
    find('#make-form').reset()
    find('#targets').replaceChildren(find('#targets legend'), ...talks.map(talk => {
      const target = stamp('target')
      target.firstElementChild.value = talk.id
      setText(target.lastElementChild, talk.title(me))
      return target
    }))
    this.#draw()
    this.#dialog.showModal()
    find('#who').focus()
    this.#look()
  }

  #draw() {
    const kind = this.#kind
    find('#people').hidden = kind === 'several'
    find('#several').hidden = kind !== 'several'
    find('#chosen').hidden = kind !== 'group'
    setText(find('#do-make'), ACTIONS[kind])
    this.#showError('')
  }

  #showError(text) { setText(find('#make-error'), text) }

  /** Offers names that begin with the text. */
  async #look() {
    const prefix = find('#who').value.trim()
    const mine = ++this.#asked
    this.#showError('')
    const names = prefix && !isName(prefix) ? [] : await this.#handlers.names(prefix).catch(() => [])
    if (mine !== this.#asked) return
    const fitting = names.filter(name => name !== this.#me && !this.#chosen.includes(name)).slice(0, SHOWN)
    find('#found').replaceChildren(...fitting.map(name => this.#button(name, name, () => {
      find('#who').value = name
      find('#make-form').requestSubmit()
    })))
  }

  #button(text, label, act) {
    const item = stamp('found')
    const button = item.firstElementChild
    button.textContent = text
    button.ariaLabel = label
    button.onclick = act
    return item
  }

  #choose(names) {
    this.#chosen = names
    this.#id = newDevice()
    find('#chosen').replaceChildren(...names.map(name => this.#button(`${name} ×`, `Remove ${name}`, () => {
      this.#choose(this.#chosen.filter(other => other !== name))
      find('#who').focus()
    })))
  }

  async #submit() {
    if (this.#kind === 'several') return this.#send()
    const name = find('#who').value.trim()
    if (name && !isName(name)) return this.#showError('A name is 1 to 32 letters, digits, _ or -.')
    if (name === this.#me) return this.#showError('This is your own name.')
    if (this.#kind === 'group' && name) {
      if (!this.#chosen.includes(name)) this.#choose([...this.#chosen, name])
      find('#who').value = ''
      find('#who').focus()
      return this.#look()
    }
    if (this.#kind === 'group' && this.#chosen.length < 2) return this.#showError('A group needs at least two other people.')
    if (this.#kind === 'person' && !name) return this.#showError('Enter a name.')
    await this.#handlers.make(this.#kind === 'person' ? [name] : this.#chosen, this.#kind === 'person' ? undefined : this.#id)
    this.#dialog.close()
  }

  #send() {
    const targets = [...find('#targets').querySelectorAll(':checked')].map(({ value }) => value)
    const content = find('#words').value.trim()
    const length = [...content].length
    if (!targets.length) return this.#showError('Choose at least one conversation.')
    if (targets.length > MOST_TARGETS) return this.#showError(`Choose at most ${MOST_TARGETS} conversations.`)
    if (!content) return this.#showError('Write a message.')
    if (length > 2_000) return this.#showError(`That is ${length} characters. The limit is 2000.`)
    this.#handlers.send(targets, content)
    this.#dialog.close()
  }
}
