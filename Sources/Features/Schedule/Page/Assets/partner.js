// Conversations with the partner of a match, which open when both have asked for one.
import { find, part, setText, show, stamp } from './dom.js'
import { sentence } from './words.js'

const CONVERSATIONS = '/conversations'
/** Whether this server has conversations. */
const isOffered = document.documentElement.dataset.conversations === 'true'

export class PartnerTalk {
  #api
  #device
  #places
  /** By match: the server's answer or its error. */
  #standings = new Map()
  #asking = new Set()

  /** `places`: selectors of the elements that show it, each with its task. */
  constructor(api, device, places) {
    find('#to-conversations').hidden = !isOffered
    this.#api = api
    this.#device = device
    this.#places = new Map(places.map(place => {
      const element = stamp('talk')
      find(place).append(element)
      part(element, 'ask').onclick = () => this.#ask(this.#places.get(place).match)
      return [place, { element, match: null }]
    }))
  }

  /** Shows it for this slot, if there is a partner. */
  show(place, slot) {
    const shown = this.#places.get(place)
    // The key includes the room, because each match has another one.
    shown.match = isOffered && slot?.isOwn && slot.hasOther && slot.room ? `${slot.id}/${slot.room}` : null
    if (shown.match && !this.#standings.has(shown.match)) this.#look(shown.match)
    this.#draw(shown)
  }

  /** The day has changed, perhaps because the partner asked. */
  refresh() {
    const shown = new Set([...this.#places.values()].map(({ match }) => match))
    for (const match of shown) if (this.#standings.get(match)?.conversation === undefined && match) this.#look(match)
  }

  #look(match) { return this.#request(match, 'GET', `?${new URLSearchParams({ deviceId: this.#device })}`) }
  #ask(match) { return this.#request(match, 'POST', '', { deviceId: this.#device }) }

  /** One request at a time for each match. */
  async #request(match, method, query, body) {
    if (this.#asking.has(match)) return
    this.#asking.add(match)
    try {
      this.#standings.set(match, await this.#api.request(method, `/task/${match.split('/')[0]}/conversation${query}`, body))
    } catch (refusal) {
      this.#standings.set(match, { ...this.#standings.get(match), refusal: method === 'POST' ? refusal : null })
    }
    this.#asking.delete(match)
    for (const shown of this.#places.values()) this.#draw(shown)
  }

  #draw({ element, match }) {
    const standing = this.#standings.get(match)
    // Without an answer of the server there is nothing to choose.
    element.hidden = !standing || standing.asked === undefined
    if (element.hidden) return
    const { asked, partnerAsked, conversation, refusal } = standing
    const needsName = refusal?.code === 'name_required'
    const link = part(element, 'go')
    setText(part(element, 'status'), conversation ? ''
      : needsName ? 'You need a name for conversations.'
        : refusal ? sentence(refusal)
          : asked ? 'You have asked for a conversation. It opens when your partner asks for it, too.'
            : partnerAsked ? 'Your partner has asked for a conversation.' : '')
    setText(part(element, 'ask'), partnerAsked ? 'Open the conversation' : 'Ask for a conversation')
    link.hidden = !conversation && !needsName
    setText(link, conversation ? 'Go to your conversation' : 'Choose a name')
    link.setAttribute('href', conversation ? `${CONVERSATIONS}#${conversation.id}` : CONVERSATIONS)
    show(part(element, 'ask'), !conversation && (!asked || partnerAsked), link.hidden ? undefined : link)
  }
}
