// The service worker: shows the page without a network, and reminders without the page. It is served as one classic script, since not
// every browser accepts a module here: the server inserts the import's text and the list of the page's files.
import { messageNoticeOf, noticeOf, partnerNoticeOf } from './notice.js'

const BUILD = ''
const FILES = []
const CACHE = `page ${BUILD}`
/** The page of conversations, which is one file, and the cache that keeps its last copy. Addresses with a query don't get that copy. */
const CONVERSATIONS = '/conversations'

addEventListener('install', event => event.waitUntil(fill()))

/** Fetches a file with its whole content, before a cache is opened: a download that breaks off then leaves no empty cache behind. */
async function fetchWhole(path) {
  const answer = await fetch(path)
  if (!answer.ok) throw new Error('The page could not be loaded completely.')
  await answer.clone().arrayBuffer()
  return answer
}

/** Keeps all files of one build. If one doesn't come whole, the browser drops this worker, and the previous worker keeps its own files. */
async function fill() {
  const answers = await Promise.all(FILES.map(fetchWhole))
  try {
    const cache = await caches.open(CACHE)
    await Promise.all(FILES.map((path, index) => cache.put(path, answers[index])))
  } catch {
    // Without storage the page needs the network. Reminders don't.
    await caches.delete(CACHE).catch(() => {})
  }
}

// The page has loaded all its files, so the next page may use newer ones.
addEventListener('message', event => {
  if (event.data === 'replace') skipWaiting()
  if (event.data === 'keep') event.waitUntil(keepConversations().catch(() => {}))
})

/** Keeps the page of conversations. If that fails, an older copy stays, and a cache without one is deleted. */
async function keepConversations() {
  const answer = await fetchWhole(CONVERSATIONS)
  const cache = await caches.open(CONVERSATIONS)
  try {
    await cache.put(CONVERSATIONS, answer)
  } catch {
    if (!await cache.match(CONVERSATIONS)) await caches.delete(CONVERSATIONS)
  }
}

addEventListener('activate', event => event.waitUntil(Promise.all([clients.claim(), dropOthers()])))

async function dropOthers() {
  const names = await caches.keys().catch(() => [])
  await Promise.all(names.filter(name => name !== CACHE && name !== CONVERSATIONS).map(name => caches.delete(name).catch(() => {})))
}

// Files come from the cache and thus from one build. Other requests go to the server.
addEventListener('fetch', event => {
  const { method, url } = event.request
  const { origin, pathname, search } = new URL(url)
  if (method !== 'GET' || origin !== location.origin) return
  if (FILES.includes(pathname)) event.respondWith(answer(pathname, CACHE))
  else if (pathname === CONVERSATIONS && !search) event.respondWith(answer(pathname, CONVERSATIONS))
})

async function answer(path, cacheName) {
  const kept = await caches.match(path, { cacheName }).catch(() => null)
  return kept ?? fetch(path)
}

const NOTICES = { messages: messageNoticeOf, partnerChanged: partnerNoticeOf }

addEventListener('push', event => {
  try {
    const data = event.data.json()
    event.waitUntil(registration.showNotification(...(NOTICES[data.type] ?? noticeOf)(data)))
  } catch {
    // A notification must be shown, or the browser cancels the subscription.
    event.waitUntil(registration.showNotification('Let’s Switch', { body: 'Your task starts in a moment.' }))
  }
})

/** Opens the conversations, in a window that shows them if there is one. */
async function openConversation(target) {
  const pages = await clients.matchAll({ type: 'window', includeUncontrolled: true })
  const page = pages.find(({ url }) => new URL(url).pathname === CONVERSATIONS)
  if (!page) return clients.openWindow(target)
  await page.focus()
  await page.navigate(target).catch(() => clients.openWindow(target))
}

addEventListener('notificationclick', event => {
  event.notification.close()
  const { startsAt, conversation } = event.notification.data ?? {}
  if (conversation) return event.waitUntil(openConversation(`/conversations#${conversation}`))
  const target = startsAt ? `/#room/${startsAt}` : '/'
  event.waitUntil((async () => {
    const [page] = await clients.matchAll({ type: 'window' })
    if (!page) return clients.openWindow(target)
    await page.focus()
    page.postMessage({ target })
  })())
})
