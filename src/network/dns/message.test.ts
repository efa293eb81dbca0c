/** Whatever arrives is read, or refused, and never more. */
import { decode, encode } from "dns-packet";
import fc from "fast-check";
import { expect, it } from "vitest";
import { writeAnswer } from "./answer.ts";
import { CODES } from "./message.ts";
import { readQuestion } from "./question.ts";
import { aged, lifetimesOf, recordsOf } from "./upstream-answer.ts";

const QUESTION = encode({
  type: "query",
  id: 7,
  flags: 256,
  questions: [{ name: "web.default.svc.cluster.local", type: "A" }],
});
const RECORD = { name: "web.default.svc.cluster.local", type: "A", address: "10.96.0.1" } as const;
const ANSWER = { code: CODES.ok, authoritative: true, records: [RECORD], zone: "cluster.local", ttlSeconds: 30 };

/** A message with some of its bytes changed, and cut somewhere. */
const broken = (whole: Buffer) =>
  fc
    .record({
      changes: fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 6 }),
      length: fc.nat(whole.length),
      more: fc.uint8Array({ maxLength: 30 }),
    })
    .map(({ changes, length, more }) => {
      const bytes = Buffer.from(whole);
      for (const [at, value] of changes) bytes[at] = value;
      return Buffer.concat([bytes.subarray(0, length), more]);
    });

it("questions, however broken, are answered in bounds or not at all", () => {
  fc.assert(
    fc.property(fc.oneof(broken(QUESTION), fc.uint8Array({ maxLength: 600 }).map(Buffer.from)), (message) => {
      const reading = readQuestion(message);
      if (!reading.ok) return;
      const { question } = reading;
      const answer = writeAnswer(question, ANSWER, 512);
      expect(answer.length).toBeLessThanOrEqual(512);
      expect(answer.subarray(12, 12 + question.bytes.length)).toEqual(question.bytes);
      expect(lifetimesOf(answer)).toBeDefined();
    }),
    { numRuns: 2000 },
  );
});

it("answers of others, however broken, are kept only where they can be read to their end", () => {
  const reading = readQuestion(QUESTION);
  if (!reading.ok) throw new Error("it is a question");
  const whole = writeAnswer(reading.question, { ...ANSWER, records: [RECORD, RECORD] }, 512);
  fc.assert(
    fc.property(fc.oneof(broken(whole), fc.uint8Array({ maxLength: 300 }).map(Buffer.from)), (message) => {
      if (message.length < 12) return;
      const lifetimes = lifetimesOf(message);
      if (lifetimes === undefined) return;
      expect(aged(message, lifetimes, 9, 10)).toHaveLength(message.length);
    }),
    { numRuns: 2000 },
  );
  const later = decode(aged(whole, lifetimesOf(whole) ?? { offsets: [], seconds: 0 }, 9, 10));
  expect(later.answers?.map((each) => "ttl" in each && each.ttl)).toEqual([20, 20]);
});

it("the target of a service is written out, as RFC 2782 wants it and Node's own resolver checks", () => {
  const reading = readQuestion(
    encode({ type: "query", id: 7, questions: [{ name: "_http._tcp.web.default.svc.cluster.local", type: "SRV" }] }),
  );
  if (!reading.ok) throw new Error("it is a question");
  const target = "web.default.svc.cluster.local";
  const record = { name: reading.question.name, type: "SRV", priority: 0, weight: 100, port: 80, target } as const;
  const answer = writeAnswer(
    reading.question,
    { code: CODES.ok, authoritative: true, records: [record], ttlSeconds: 1 },
    512,
  );
  expect(answer.subarray(-1 - "3web7default3svc7cluster5local".length).toString("latin1")).toBe(
    "\x03web\x07default\x03svc\x07cluster\x05local\0",
  );
});

it.each([
  { name: "addresses", type: "A", data: "192.0.2.7", want: [{ type: "A", address: "192.0.2.7" }] },
  { name: "addresses of IPv6", type: "AAAA", data: "2001:db8::7", want: [{ type: "AAAA", address: "2001:db8::7" }] },
  { name: "aliases", type: "CNAME", data: "b.example", want: [{ type: "CNAME", target: "b.example" }] },
  { name: "no other records", type: "TXT", data: "text", want: [] },
] as const)("$name are read from the responses of other servers", ({ type, data, want }) => {
  const [name, questions] = ["a.example", [{ name: "a.example", type: "A" }] as const];
  const message = encode({
    type: "response",
    id: 1,
    questions: [...questions],
    answers: [{ name, type, ttl: 5, data }],
  });
  expect(recordsOf(message)).toEqual(want.map((each) => ({ name, ...each })));
});

it("compressed names are read, and broken responses do no harm", () => {
  const reading = readQuestion(QUESTION);
  if (!reading.ok) throw new Error("it is a question");
  const alias = { name: RECORD.name, type: "CNAME", target: "other.default.svc.cluster.local" } as const;
  const whole = writeAnswer(reading.question, { ...ANSWER, records: [alias, RECORD] }, 512);
  expect(recordsOf(whole)).toEqual([alias, RECORD]);
  const loop = Buffer.from(whole);
  loop.writeUInt16BE(0xc000 | 12, 12);
  expect(recordsOf(loop)).toBeUndefined();
  fc.assert(
    fc.property(broken(whole), (message) => {
      recordsOf(message);
    }),
    { numRuns: 2000 },
  );
});
