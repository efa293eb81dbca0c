import { describe, expect, it } from "vitest";
import { range, unlimited } from "../functions/cost.ts";
import { bytes, int, list, string } from "../values/type.ts";
import { AuthorizerValue } from "./authz.ts";
import { admission, baseEnvironment, celLimits } from "./environment.ts";
import { base, costOf, estimateOf } from "./testing/evaluate.ts";

const ints = "[1, 2, 3, 4, 5]";
const uints = "[uint(1), uint(2), uint(3), uint(4), uint(5)]";
const durations = "[duration('1s'), duration('2s'), duration('3s'), duration('4s'), duration('5s')]";
const texts = `[${Array(5).fill("'012345678901'").join(", ")}]`;
const fifty = "'01234567890123456789012345678901234567890123456789'";
const deployment =
  "authorizer.group('apps').resource('deployments').subresource('status').namespace('test').name('backend')";
const selector = "'spec.nodeName=example-node-name.fully.qualified.domain.name.example.com'";

/** Expression, estimate (least, most), actual cost: the figures of Kubernetes. */
const rows: readonly (readonly [string, number, number, number])[] = [
  [`${ints}.sum()`, 15, 15, 15],
  [`${uints}.max()`, 20, 20, 20],
  [`${durations}.isSorted()`, 20, 20, 20],
  [`${ints}.indexOf(3)`, 15, 15, 15],
  [`${uints}.lastIndexOf(uint(3))`, 21, 21, 21],
  [`${fifty}.indexOf('123')`, 5, 5, 5],
  [`${fifty}.lastIndexOf('123')`, 5, 5, 5],

  ["url('https:://kubernetes.io/').getScheme()", 4, 4, 4],
  ["url('https:://kubernetes.io/').getQuery()", 4, 4, 4],
  ["url('https:://kubernetes.io/') == url('https:://kubernetes.io/')", 7, 9, 7],
  ["url('https:://kubernetes.io/') == url('http://x.b')", 5, 5, 5],

  ["ip('192.168.0.1')", 2, 2, 2],
  ["ip('2001:db8:3333:4444:5555:6666:7777:8888')", 4, 4, 4],
  ["ip('192.168.0.1').family()", 3, 3, 3],
  ["ip('192.168.0.1') == ip('192.168.0.1')", 5, 5, 5],
  ["isIP('192.168.0.1')", 2, 2, 2],
  ["ip.isCanonical('2001:db8:3333:4444:5555:6666:7777:8888')", 8, 8, 8],
  ["ip.isCanonical('2001:db8::abcd')", 3, 3, 3],
  ["cidr('192.168.0.0/16').ip()", 3, 3, 3],
  ["cidr('192.168.0.0/16').masked()", 3, 3, 3],
  ["cidr('192.168.0.0/16') == cidr('2001:db8::/32')", 5, 5, 5],
  ["cidr('192.168.0.0/16').containsCIDR(cidr('192.0.0.0/30'))", 7, 11, 7],
  ["cidr('192.168.0.0/16').containsCIDR('192.168.0.0/16')", 7, 11, 7],
  ["cidr('192.168.0.0/16').containsIP(ip('192.0.0.1'))", 4, 7, 4],
  ["cidr('192.168.0.0/16').containsIP('192.169.0.1')", 5, 8, 5],
  ["cidr('2001:db8::/32').containsIP(ip('2001:db8:3333:4444:5555:6666:7777:8888'))", 7, 10, 7],
  ["cidr('2001:db8::/32').containsIP('2001:db8::1')", 5, 8, 5],

  ["'ABCDEFGHIJ abcdefghij'.lowerAscii()", 3, 3, 3],
  ["'ABCDEFGHIJ abcdefghij'.lowerAscii() == 'abcdefghij ABCDEFGHIJ'.lowerAscii()", 7, 9, 9],
  ["'ABCDEFGHIJ abcdefghij'.upperAscii()", 3, 3, 3],
  ["strings.quote('ABCDEFGHIJ abcdefghij')", 3, 3, 3],
  ["strings.quote('ABCDEFGHIJ abcdefghij') == strings.quote('ABCDEFGHIJ abcdefghij')", 7, 11, 9],
  ["'abc 123 def 123'.replace('123', '456')", 3, 3, 3],
  ["'abc 123 def 123'.replace('123', '456', 1)", 3, 3, 3],
  ["'abc 123 def 123'.split(' ')", 3, 3, 3],
  ["'abc 123 def 123'.substring(5, 8)", 2, 2, 2],
  ["'  abc 123 def 123  '.trim()", 2, 2, 2],
  ["'abc 123 def 123'.find('123')", 2, 2, 2],
  ["'abc 123 def 123'.findAll('123', 1)", 2, 2, 2],
  ["jsonpatch.escapeKey('abc/def~ abc/def~')", 2, 2, 2],

  ["authorizer.path('/healthz')", 2, 2, 2],
  [deployment, 6, 6, 6],
  [`authorizer.group('').resource('pods').fieldSelector(${selector})`, 1821, 1821, 1821],
  [`authorizer.group('').resource('pods').labelSelector(${selector})`, 1821, 1821, 1821],
  ["authorizer.path('/healthz').check('get').allowed()", 350_003, 350_003, 350_003],
  [`${deployment}.check('create').errored()`, 350_007, 350_007, 350_007],

  ["quantity('12Mi')", 1, 1, 1],
  ["quantity('200M') == quantity('0.2G') && quantity('0.2G') == quantity('200M')", 3, 6, 6],
  ["quantity('200M').compareTo(quantity('0.2G')) > 0", 4, 4, 4],
  ["quantity('50k').add(20).sub(quantity('100k')).sub(-50000).asInteger() > 0", 7, 7, 7],
  ["quantity('50.703k').asApproximateFloat() > 0.0", 3, 3, 3],

  ["format.named('dns1123subdomain')", 1, 1, 1],
  ["format.named('dns1123Subdomain').value().validate('my-name')", 34, 34, 17],
  ["format.named('dns1123Label').value().validate('my-name')", 34, 34, 10],
  ["format.named('dns1123Label').value() == format.named('dns1123Label').value()", 5, 11, 5],

  ["sets.contains([], [])", 21, 21, 21],
  ["sets.contains([1, 2, 3, 4], [2, 3])", 29, 29, 29],
  ["!sets.contains([1], [1, 2])", 24, 24, 24],
  ["sets.equivalent([1], [1, 1])", 25, 25, 25],
  ["sets.intersects([1], [1, 2])", 23, 23, 23],
  ["sets.intersects([[1], [2, 3]], [[1, 2], [2, 3]])", 65, 65, 65],

  ["semver('1234.56789012345.67890123456789')", 4, 4, 4],
  ["isSemver('1.0.0')", 1, 1, 1],
  ["semver('1.2.3').major()", 2, 2, 2],
  ["semver('1.0.0').compareTo(semver('1.2.3'))", 3, 3, 3],

  ["[1, 2, 3].slice(0, 2)", 23, 23, 23],
  ["[1, 2, 3].reverse()", 24, 24, 24],
  ["lists.range(5)", 16, 16, 16],
  ["[[1], [2]].flatten()", 43, 43, 43],
  ["[1, 2, 3].distinct()", 39, 39, 39],
  ["[1, 2, 3].sort()", 39, 39, 39],
  ["['a', 'b', 'c'].sort()", 40, 40, 39],
];

const environment = admission(base, { patches: true });
const authorizer = new AuthorizerValue({ name: "a", groups: [] }, () => ({ decision: "allow", reason: "" }));

describe("costs of literals", () => {
  it.each(rows)("%s", (expression, min, max, actual) => {
    expect(estimateOf(expression, environment)).toEqual({ min, max });
    expect(costOf(expression, { authorizer }, environment)).toBe(actual);
  });

  it("walks through what a list holds", () => {
    expect(costOf(`${texts}.isSorted()`)).toBe(15);
    expect(costOf("['aa', 'bb', 'cc', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].join(' ')")).toBe(15);
    expect(costOf("['aa', 'bb', 'cc', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].join()")).toBe(13);
  });
});

describe("estimates by the sizes of data", () => {
  const sizes = new Map(
    Object.entries({
      text: range(0, 100),
      old: range(1, 1),
      by: range(1, 2),
      texts: range(0, 10),
      "texts.@items": range(0, 12),
      numbers: range(2, 10),
      blobs: range(0, 10),
      "blobs.@items": range(0, 12),
    }),
  );
  const environment = base.extend({
    variables: { text: string, old: string, by: string, texts: list(string), numbers: list(int), blobs: list(bytes) },
  });

  it.each([
    ["numbers.isSorted()", 3, 11],
    ["texts.isSorted()", 1, 31],
    ["blobs.max()", 1, 31],
    ["texts.indexOf('x')", 1, 31],
    ["text.indexOf('x')", 1, 11],
    ["texts.join()", 1, 13],
    ["texts.join(', ')", 1, 15],
    ["text.replace(old, by).upperAscii()", 3, 43],
    ["text.replace('', 'ab').upperAscii()", 2, 52],
    ["text.split(',').indexOf('x')", 1, unlimited],
    ["text.split(',').size()", 2, 22],
    ["text.find('[a-z]+')", 3, 23],
    ["text.findAll('[a-z]+').size()", 4, 24],
    ["numbers.distinct()", 20, 212],
    ["texts.sort()", 12, 222],
    ["numbers.slice(1, 3)", 14, 14],
    ["lists.range(numbers[0])", unlimited, unlimited],
    ["format.uri().validate(text)", 2, 322],
  ])("%s", (expression, min, max) => {
    expect(estimateOf(expression, environment, (path) => sizes.get(path))).toEqual({ min, max });
  });
});

it("ends what is too expensive", () => {
  const compilation = baseEnvironment().compile("lists.range(9000000000000000000).reverse().size() > 0");
  if (!compilation.ok) throw new Error(compilation.issues);
  expect(compilation.program.evaluate({}, { budget: celLimits.perCall })).toMatchObject({
    ok: false,
    exhausted: true,
    error: "operation cancelled: actual cost limit exceeded",
  });
});
