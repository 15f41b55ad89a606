// Decodes a pprof profile with pprof-format, an independent reader, and prints the values for a test as JSON.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { Profile } from 'pprof-format'

const profile = Profile.decode(gunzipSync(readFileSync(process.argv[2])))
const text = (i) => profile.stringTable.strings[Number(i)]
const sums = profile.sampleType.map((_, i) => profile.sample.reduce((sum, s) => sum + BigInt(s.value[i]), 0n).toString())
const locations = new Map(profile.location.map((l) => [BigInt(l.id), l]))
const functions = new Map(profile.function.map((f) => [BigInt(f.id), f]))
const named = (l) => l.line.every((line) => text(functions.get(BigInt(line.functionId)).name) !== '')

console.log(JSON.stringify({
  types: profile.sampleType.map((v) => `${text(v.type)}/${text(v.unit)}`),
  default: text(profile.defaultSampleType),
  samples: profile.sample.length,
  sums,
  frames: profile.sample.reduce((n, s) => n + s.locationId.length, 0),
  whole: profile.sample.every((s) => s.locationId.every((id) => named(locations.get(BigInt(id))))),
  names: [...new Set(profile.function.map((f) => text(f.name)))].sort(),
}))
