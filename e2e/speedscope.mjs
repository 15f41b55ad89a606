// Reads profiles with speedscope's own importer, and prints a line of JSON per file: how it recognized the file, its warnings, and
// per profile the weights of frames. "exported" contains the same for speedscope's own export, imported again.
//
// Usage: node speedscope.mjs FILE...
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createRequire } from 'node:module'
import vm from 'node:vm'

const release = join(dirname(createRequire(import.meta.url).resolve('speedscope/package.json')), 'dist', 'release')
const page = readFileSync(join(release, 'index.html'), 'utf8')
const bundle = readFileSync(join(release, page.match(/speedscope-\w+\.js/)[0]), 'utf8')

// speedscope is a web page in one function. The names that its modules export remain in the bundle, so a statement at its start can
// expose the importer of files with the initializer of its module, and the export function. Then the page
// starts and fails, because there is no document.
const start = '"use strict";(()=>{'
const id = '([\\w$]+)'
const literal = (name) => name.replaceAll('$', '\\$')
const find = (text, pattern) => text.match(new RegExp(pattern))?.[1]
const importer = find(bundle, `importProfilesFromArrayBuffer:\\(\\)=>${id}`)
const namespace = find(bundle, `${id}=\\{\\};[\\w$]+\\([\\w$]+,\\{importFromFileSystemDirectoryEntry:`)
const init = namespace && find(bundle, `\\(${id}\\(\\),${literal(namespace)}\\)`)
const exporter = bundle.slice(0, bundle.indexOf('exporter:`speedscope@')).match(/function ([\w$]+)\(\w+\)\{let \w+=\[\],/g)?.at(-1).match(/ ([\w$]+)\(/)[1]
if (!importer || !init || !exporter || !bundle.startsWith(start)) throw new Error('the bundle of speedscope has changed')
let read, write, ready
let log = []
const note = (...words) => log.push(words.join(' '))
const silent = { ...console, log: note, info: note, warn: (...w) => note('warning:', ...w), error: (...w) => note('warning:', ...w), time () {}, timeEnd () {} }
const handOut = (r, w, i) => { read = r; write = w; ready = i }
try {
  vm.runInNewContext(`${start}handOut((n,b)=>${importer}(n,b),(g)=>${exporter}(g),()=>${init}());${bundle.slice(start.length)}`,
    { handOut, console: silent, TextDecoder, TextEncoder, setTimeout, performance })
} catch (e) {
  if (!read) throw e
}
ready()

// describe returns the values of a group of profiles that a test compares.
const describe = (group) => group.profiles.map((p) => {
  const frames = {}
  p.forEachFrame((f) => {
    const [self, total] = frames[f.name] ?? [0, 0]
    frames[f.name] = [self + f.getSelfWeight(), total + f.getTotalWeight()]
  })
  return { name: p.getName(), unit: p.getWeightUnit(), total: p.getTotalWeight(), samples: p.samples.length, frames }
})

const load = async (name, bytes) => {
  log = []
  const result = { error: '', log: [], warnings: [], profiles: [] }
  let group = null
  try {
    group = await read(name, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
    if (!group) throw new Error('speedscope does not recognize the format')
    result.profiles = describe(group)
  } catch (e) {
    result.error = String(e?.stack ?? e)
  }
  for (const line of log) (line.startsWith('Importing') ? result.log : result.warnings).push(line)
  return [result, group]
}

for (const file of process.argv.slice(2)) {
  const [result, group] = await load(basename(file), readFileSync(file))
  if (group) {
    const text = JSON.stringify(write(group))
    const [again] = await load('export.speedscope.json', new TextEncoder().encode(text))
    result.exported = again
  }
  console.log(JSON.stringify(result))
}
