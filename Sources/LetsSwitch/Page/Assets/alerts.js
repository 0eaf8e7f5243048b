// Reminders outside of the page: browser notifications while it is open, Web Push when it is not.
import { noticeOf } from './notice.js'

/** Notifications and service workers exist on https and on localhost only. */
const isPossible = 'Notification' in self && 'serviceWorker' in navigator

const scripts = self.trustedTypes?.createPolicy('page', { createScriptURL: () => '/page/worker.js' })

export function startWorker() {
  if (!('serviceWorker' in navigator)) return
  // It may not be allowed to, in a private window for one; the page does without.
  navigator.serviceWorker.register(scripts?.createScriptURL('') ?? '/page/worker.js', { scope: '/', type: 'module' })
    .catch(() => {})
}

/** impossible, ask, blocked, open (while the page is), closed (also when it is not). */
export async function alertState() {
  if (!isPossible) return 'impossible'
  if (Notification.permission === 'denied') return 'blocked'
  if (Notification.permission !== 'granted') return 'ask'
  const worker = await navigator.serviceWorker.getRegistration('/')
  return await worker?.pushManager?.getSubscription() ? 'closed' : 'open'
}

/** Asks for leave, and subscribes to Web Push where the server offers it. */
export async function allowAlerts(api, device) {
  if (!isPossible || await Notification.requestPermission() !== 'granted') return
  await subscribe(api, device).catch(() => {})
}

/** Tells the server of the subscription again: it may have forgotten, or the device may be another. */
export async function keepSubscription(api, device) {
  if (await alertState() === 'closed') await subscribe(api, device).catch(() => {})
}

async function subscribe(api, device) {
  const { pushManager } = await navigator.serviceWorker.ready
  // Refused where Web Push isn't set up: then reminders come while the page is open.
  const { publicKey } = await api.request('GET', '/push/key')
  const key = Uint8Array.from(atob(publicKey.replace(/-/g, '+').replace(/_/g, '/')), char => char.charCodeAt(0))
  const old = await pushManager.getSubscription()
  const oldKey = new Uint8Array(old?.options.applicationServerKey ?? [])
  // A subscription is bound to the key that it was made with.
  if (old && oldKey.join() !== key.join()) await old.unsubscribe()
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })
  const { endpoint, keys } = subscription.toJSON()
  await api.request('POST', '/push/subscription', { deviceId: device, subscription: { endpoint, keys } })
}

/** Forgets the subscription, here and there: for a browser that becomes another device. */
export async function unsubscribe(api, device) {
  if (!isPossible) return
  const worker = await navigator.serviceWorker.getRegistration('/')
  const subscription = await worker?.pushManager?.getSubscription()
  if (!subscription) return
  const query = new URLSearchParams({ deviceId: device, endpoint: subscription.endpoint })
  await api.request('DELETE', `/push/subscription?${query}`).catch(() => {})
  await subscription.unsubscribe()
}

/** Shows a reminder outside of the page. */
export async function notify(reminder) {
  if (!isPossible || Notification.permission !== 'granted') return
  const worker = await navigator.serviceWorker.getRegistration('/')
  await worker?.showNotification(...noticeOf(reminder))
}
