// Reads folded stacks with the importer of speedscope, which is a web page, and prints what a test compares as JSON: the number of
// lines, the total weight, and per frame the weight of the frame itself and with its callees.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import vm from 'node:vm'

const release = join(dirname(createRequire(import.meta.url).resolve('speedscope/package.json')), 'dist', 'release')
const page = readFileSync(join(release, 'index.html'), 'utf8')
const bundle = readFileSync(join(release, page.match(/speedscope-\w+\.js/)[0]), 'utf8')

// The bundle is one function. The functions in it exist before it runs, so a statement at its start can expose the importer, which
// follows the function with the pattern of a line, and the initializer of the importer's module. Then the page starts and fails,
// because there is no document.
const found = bundle.match(/\/\^\(\.\*\) \(\\d\+\)\$\/gm.*?\}function (\w+)\(.*?\}var (\w+)=\w+\(\(\)=>/s)
const start = '"use strict";(()=>{'
if (!found || !bundle.startsWith(start)) throw new Error('the bundle of speedscope has changed')
let importer, init
const handOut = (f, g) => { importer = f; init = g }
try {
  vm.runInNewContext(`${start}handOut((t)=>${found[1]}(t),()=>${found[2]}());${bundle.slice(start.length)}`, { handOut, console })
} catch (e) {
  if (!importer) throw e
}
init()

const text = readFileSync(process.argv[2], 'utf8')
const profile = importer({ splitLines: () => text.split('\n') })
if (!profile) throw new Error('speedscope finds no stacks')
const frames = {}
profile.forEachFrame((f) => { frames[f.name] = [f.getSelfWeight(), f.getTotalWeight()] })
console.log(JSON.stringify({ lines: profile.samples.length, total: profile.getTotalWeight(), frames }))
