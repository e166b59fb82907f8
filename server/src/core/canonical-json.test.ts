import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { CanonicalText, canonicalJson, canonicalSha256, orderedJson } from './canonical-json.ts'

/** The number with these IEEE 754 bits. */
function numberOf(bits: string): number {
  return Buffer.from(bits, 'hex').readDoubleBE()
}

describe('canonical JSON', () => {
  it('writes the numbers of RFC 8785, appendix B, as given there', () => {
    const samples: [string, string][] = [
      ['0000000000000000', '0'],
      ['8000000000000000', '0'],
      ['0000000000000001', '5e-324'],
      ['8000000000000001', '-5e-324'],
      ['7fefffffffffffff', '1.7976931348623157e+308'],
      ['ffefffffffffffff', '-1.7976931348623157e+308'],
      ['4340000000000000', '9007199254740992'],
      ['c340000000000000', '-9007199254740992'],
      ['4430000000000000', '295147905179352830000'],
      ['44b52d02c7e14af5', '9.999999999999997e+22'],
      ['44b52d02c7e14af6', '1e+23'],
      ['44b52d02c7e14af7', '1.0000000000000001e+23'],
      ['444b1ae4d6e2ef4e', '999999999999999700000'],
      ['444b1ae4d6e2ef4f', '999999999999999900000'],
      ['444b1ae4d6e2ef50', '1e+21'],
      ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
      ['3eb0c6f7a0b5ed8d', '0.000001'],
      ['41b3de4355555553', '333333333.3333332'],
      ['41b3de4355555554', '333333333.33333325'],
      ['41b3de4355555555', '333333333.3333333'],
      ['41b3de4355555556', '333333333.3333334'],
      ['41b3de4355555557', '333333333.33333343'],
      ['becbf647612f3696', '-0.0000033333333333333333'],
      ['43143ff3c1cb0959', '1424953923781206.2'],
    ]
    for (const [bits, text] of samples) assert.equal(canonicalJson(numberOf(bits)), text, bits)
  })

  it('refuses numbers that are not finite', () => {
    for (const bits of ['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000']) {
      assert.throws(() => canonicalJson({ value: numberOf(bits) }))
    }
  })

  it('writes literals, strings and numbers as in RFC 8785, §3.2.2', () => {
    const value = JSON.parse(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`)
    assert.equal(
      canonicalJson(value),
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    )
  })

  it('sorts by UTF-16 code units, as in RFC 8785, §3.2.3', () => {
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      1: 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    }
    assert.deepEqual(Object.values(JSON.parse(canonicalJson(value))).toSorted(), Object.values(value).toSorted())
    assert.deepEqual(
      [...canonicalJson(value).matchAll(/:"([^"]+)"/g)].map(([, name]) => name),
      [
        'Carriage Return',
        'One',
        'Control',
        'Latin Small Letter O With Diaeresis',
        'Euro Sign',
        'Emoji: Grinning Face',
        'Hebrew Letter Dalet With Dagesh',
      ],
    )
  })

  it('sorts at every depth and leaves arrays in their order', () => {
    const value = { b: [{ z: 1, y: [3, 1, 2] }, {}], a: { d: null, c: '' }, 10: 0, 9: 0 }
    assert.equal(canonicalJson(value), '{"10":0,"9":0,"a":{"c":"","d":null},"b":[{"y":[3,1,2],"z":1},{}]}')
  })

  it('has one form for one value, which reads back as that value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'medium', stringUnit: 'grapheme' }), (value) => {
        const text = canonicalJson(value)
        // JSON has one zero.
        const read = JSON.parse(JSON.stringify(value))
        assert.deepEqual(JSON.parse(text), read)
        assert.equal(canonicalJson(JSON.parse(text)), text)
        assert.equal(canonicalJson(membersReversed(read)), text)
      }),
      { numRuns: 500 },
    )
  })

  it('leaves out undefined members, so that absent and undefined are equal', () => {
    assert.equal(canonicalJson({ a: undefined, b: 1 }), '{"b":1}')
  })

  it('refuses undefined, lone surrogates and cycles', () => {
    assert.throws(() => canonicalJson(undefined), TypeError)
    assert.throws(() => canonicalJson({ text: '\ud800' }))
    assert.throws(() => canonicalJson({ '\udc00': 1 }))
    const ring: { self?: unknown } = {}
    ring.self = ring
    assert.throws(() => canonicalJson(ring))
    assert.throws(() => canonicalJson({ big: 1n }))
  })

  it('treats the name of an inherited property like any other name', () => {
    assert.equal(canonicalJson(JSON.parse('{"constructor":1,"__proto__":2}')), '{"__proto__":2,"constructor":1}')
  })

  it('inserts a CanonicalText as is', () => {
    const part = { b: [1, { d: 2, c: 3 }], a: 'ü' }
    assert.equal(canonicalJson({ z: 0, part: new CanonicalText(part) }), canonicalJson({ z: 0, part }))
  })

  it('accepts nesting far beyond any document of the service', () => {
    const depth = 1_000
    const nested = JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    assert.equal(canonicalJson(nested), '['.repeat(depth) + ']'.repeat(depth))
  })

  it('equals the result of the canonicalize package for any JSON value', () => {
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => canonicalJson(value) === canonicalize(value)))
  })
})

describe('ordered JSON', () => {
  it('is canonical', () => {
    // An object keeps its members in the order of creation, except names that look like an array index.
    const name = fc.string({ unit: 'grapheme' }).map((text) => `.${text}`)
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue({ maxDepth: 0, stringUnit: 'grapheme' }),
        fc.array(tie('tree')),
        fc.dictionary(name, tie('tree')),
      ),
    }))
    fc.assert(
      fc.property(fc.dictionary(name, tree), (document) => {
        const ordered = JSON.parse(canonicalJson(document))
        assert.equal(orderedJson(ordered), canonicalJson(document))
      }),
    )
  })

  it('distinguishes a lone surrogate from text that looks like its escape', () => {
    assert.throws(() => orderedJson({ text: '\ud800' }), TypeError)
    const document = { text: String.raw`\ud800 \\ud800`, whole: '\ud83d\ude00' }
    assert.equal(orderedJson(document), canonicalJson(document))
  })
})

describe('the hash of canonical JSON', () => {
  it('is the SHA-256 of its UTF-8 bytes', () => {
    assert.equal(canonicalSha256({}), '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a')
    const value = { name: 'Zoë €', list: [1, 2] }
    const bytes = Buffer.from('{"list":[1,2],"name":"Zoë €"}', 'utf8')
    assert.equal(canonicalSha256(value), createHash('sha256').update(bytes).digest('hex'))
  })
})

function membersReversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(membersReversed)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, membersReversed(member)]),
  )
}
