// The little that is needed of a framework.

export const find = selector => document.querySelector(selector)

/** Sets what an element says; nothing happens when it says so already, so that live regions speak of changes only. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text
}

const heading = () => find(document.body.dataset.view === 'room' ? '#room-title' : '#date')

/** Shows or hides an element. The focus doesn't go with it: it goes to `next`, or the heading. */
export function show(element, isShown, next = heading()) {
  const hadFocus = !isShown && element.contains(document.activeElement)
  element.hidden = !isShown
  if (hadFocus) next.focus()
}

/** A button that does something which others feel: it asks first, and for a moment only. Gives what ends that moment. */
export function armed(button, text, question, act) {
  let timer
  const set = isArmed => {
    clearTimeout(timer)
    button.dataset.armed = isArmed
    say(button, isArmed ? question : text)
    if (isArmed) timer = setTimeout(set, 10_000, false)
  }
  button.addEventListener('click', event => {
    // The second half of a double click decides nothing.
    if (event.detail > 1) return
    const isSure = button.dataset.armed === 'true'
    set(!isSure)
    if (isSure) act()
  })
  set(false)
  return () => set(false)
}

/** Copies what a field holds; if the browser doesn't let that, it is selected at least. */
export async function copy(field) {
  field.select()
  try {
    // The clipboard is there on https only; the old way is everywhere.
    if (navigator.clipboard) await navigator.clipboard.writeText(field.value)
    else if (!document.execCommand('copy')) return false
    return true
  } catch {
    return false
  }
}

/** A copy of the template's only element. */
export const stamp = name => find(`template#${name}`).content.firstElementChild.cloneNode(true)

/** The part of an element that is marked `data-part`. */
export const part = (element, name) => element.querySelector(`[data-part=${name}]`)
