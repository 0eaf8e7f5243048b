// Small helpers in place of a framework.

export const find = selector => document.querySelector(selector)

/** Sets an element's text. An unchanged text is left alone, so that live regions announce only changes. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text
}

const heading = () => find(document.body.dataset.view === 'room' ? '#room-title' : '#date')

/** Shows or hides an element. If it has the focus, the focus moves to `next` or to the heading. */
export function show(element, isShown, next = heading()) {
  const hadFocus = !isShown && element.contains(document.activeElement)
  element.hidden = !isShown
  if (hadFocus) next.focus()
}

/** Makes a button ask for confirmation, for a moment. Returns a function that ends that moment. */
export function armed(button, text, question, act) {
  let timer
  const set = isArmed => {
    clearTimeout(timer)
    button.dataset.armed = isArmed
    setText(button, isArmed ? question : text)
    if (isArmed) timer = setTimeout(set, 10_000, false)
  }
  button.addEventListener('click', event => {
    // Ignores the second half of a double click.
    if (event.detail > 1) return
    const isSure = button.dataset.armed === 'true'
    set(!isSure)
    if (isSure) act()
  })
  set(false)
  return () => set(false)
}

/** Copies a field's value. If the browser doesn't allow that, the value is selected. */
export async function copy(field) {
  field.select()
  try {
    // The clipboard exists only on https; `execCommand` exists everywhere.
    if (navigator.clipboard) await navigator.clipboard.writeText(field.value)
    else if (!document.execCommand('copy')) return false
    return true
  } catch {
    return false
  }
}

/** Returns a copy of the template's only element. */
export const stamp = name => find(`template#${name}`).content.firstElementChild.cloneNode(true)

/** Returns the part of an element with this `data-part`. */
export const part = (element, name) => element.querySelector(`[data-part=${name}]`)
