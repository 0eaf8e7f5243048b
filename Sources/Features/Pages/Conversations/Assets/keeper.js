// Has the service worker keep this page, for when there is no network. Browsers have one on https and on localhost only.

const scripts = self.trustedTypes?.createPolicy('page', { createScriptURL: () => '/page/worker.js' })

export async function keepPage() {
  const { serviceWorker } = navigator
  if (!serviceWorker) return
  try {
    await serviceWorker.register(scripts?.createScriptURL('') ?? '/page/worker.js', { scope: '/' })
    const { active } = await serviceWorker.ready
    active.postMessage('keep')
  } catch {
    // Then it needs the network.
  }
}
