import { find, part, setText, stamp } from './dom.js'
import { ceiling, latest, pathOf, plotsOf, wordOf } from './plots.js'

/** Milliseconds between two reads. */
const pace = { minute: 1_000, hour: 5_000, day: 30_000 }
const spans = { minute: 'minute', hour: 'hour', day: 'day' }

const chosen = name => find(`input[name=${name}]:checked`).value

let timer = null
let asked = 0
/** The sections, by their titles. */
let sections = new Map()

function drawLine(svg, index, points, most) {
  const path = svg.children[index]
    ?? svg.appendChild(document.createElementNS('http://www.w3.org/2000/svg', 'path'))
  path.setAttribute('class', `c${index}`)
  path.setAttribute('d', pathOf(points, most))
}

function sectionOf(plot) {
  const known = sections.get(plot.title)
  if (known) return known
  const section = stamp('plot')
  setText(section.querySelector('h2'), plot.title)
  plot.lines.forEach((line, index) => {
    const item = stamp('line')
    item.querySelector('i').className = line.isBad ? 'c2' : `c${index}`
    setText(part(item, 'name'), line.label)
    section.querySelector('.key').append(item)
  })
  find('#plots').append(section)
  sections.set(plot.title, section)
  return section
}

function drawPlot(plot, series, span) {
  const section = sectionOf(plot)
  const lines = plot.lines.map(line => (series[line.name] ?? []).map(
    point => point === null ? null : point * (plot.per ?? 1)))
  const most = ceiling(Math.max(0, ...lines.flat().filter(point => point !== null)))
  const now = lines.map(latest)
  setText(section.querySelector('.now'), wordOf(now[0]))
  setText(section.querySelector('.most'), wordOf(most))
  const svg = section.querySelector('svg')
  lines.forEach((points, index) => drawLine(svg, index, points, most))
  plot.lines.forEach((line, index) => {
    if (line.isBad) svg.children[index].setAttribute('class', 'c2')
    setText(part(section.querySelector('.key').children[index], 'value'), wordOf(now[index]))
  })
  svg.setAttribute('aria-label', `${plot.title}, the last ${spans[span]}: ${
    plot.lines.map((line, index) => `${line.label} ${wordOf(now[index])}`).join(', ')}`)
  section.dataset.bad = plot.lines.some((line, index) =>
    line.isBad ? now[index] > 0 : plot.badFrom && now[index] >= plot.badFrom)
}

function draw(answer, span) {
  const plots = plotsOf(answer.providers)
  for (const plot of plots) drawPlot(plot, answer.series, span)
  setText(find('#about'), [
    answer.daemons > 1 ? `${answer.daemons} daemons` : answer.host, answer.build,
    answer.bus === 'none' ? 'no bus' : `bus ${answer.bus}${answer.busConnected ? '' : ', not connected'}`,
  ].join(' · '))
  setText(find('#banner'), answer.ready ? '' : answer.reason)
  document.body.dataset.link = 'live'
  document.body.dataset.shown = `${chosen('of')} ${span}`
}

async function look() {
  clearTimeout(timer)
  const [of, span, number] = [chosen('of'), chosen('span'), ++asked]
  try {
    const response = await fetch(`/operations/samples?of=${of}&span=${span}`, { signal: AbortSignal.timeout(10_000) })
    if (!response.ok) throw new Error(`status ${response.status}`)
    const answer = await response.json()
    // Another choice was made meanwhile.
    if (number !== asked) return
    draw(answer, span)
  } catch {
    if (number !== asked) return
    document.body.dataset.link = 'away'
    setText(find('#banner'), 'The daemon doesn’t answer. You see its last data.')
  }
  if (!document.hidden) timer = setTimeout(look, pace[span])
}

/** The address has the choice, so that it can be bookmarked. */
function choose() {
  history.replaceState(null, '', `#${chosen('of')}/${chosen('span')}`)
  look()
}

const [of, span] = location.hash.slice(1).split('/')
for (const [name, value] of [['of', of], ['span', span]]) {
  const input = [...document.querySelectorAll(`input[name=${name}]`)].find(input => input.value === value)
  if (input) input.checked = true
}
for (const input of document.querySelectorAll('input')) input.addEventListener('change', choose)
document.addEventListener('visibilitychange', () => { if (!document.hidden) look() })
look()
