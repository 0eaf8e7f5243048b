// The device: a secret that this browser made. This module doesn't use the DOM.

/** Returns a UUID. `crypto.randomUUID` exists only on https; `getRandomValues` exists everywhere. */
export function newDevice(dice = crypto) {
  if (dice.randomUUID) return dice.randomUUID().toUpperCase()
  const bytes = dice.getRandomValues(new Uint8Array(16))
  bytes[6] = bytes[6] & 0x0F | 0x40
  bytes[8] = bytes[8] & 0x3F | 0x80
  const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('').toUpperCase()
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
}

/** Returns pasted text in the server's form; `null` if it isn't valid. */
export function readDevice(text) {
  const trimmed = `${text ?? ''}`.trim()
  return trimmed && [...trimmed].length <= 128 && !/[\u0000-\u001F]/.test(trimmed) ? trimmed : null
}

/** Returns the stored device, or a new one. */
export const firstDevice = kept => readDevice(kept) ?? newDevice()
