/** RFC 9113 and RFC 7541, section by section, in bytes. docs/http2-conformance.md lists what is here. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PREFACE } from "./codes.ts";
import { conformanceDocument } from "./testing/conformance/document.ts";
import { type Row, serve } from "./testing/conformance/row.ts";
import { h2specCases, specifications } from "./testing/conformance/sections.ts";
import { settings } from "./testing/frames.ts";
import { TestClient } from "./testing/test-client.ts";

const MAX_BYTES_ONE_BY_ONE = 2_000;

const concat = (parts: readonly Buffer[] = []) => Buffer.concat(parts);

/** Sends what a row says, and compares; `cut` divides what is sent into pieces. */
async function check(row: Row, cut: (bytes: Buffer) => readonly Buffer[]): Promise<void> {
  const client = new TestClient(row.unanswered === true ? {} : { onStream: serve });
  if (row.unopened === undefined) {
    await client.send(PREFACE, settings());
    client.sent;
  }
  for (const piece of cut(concat(row.given))) await client.send(piece);
  for (const piece of cut(concat(row.afterwards))) await client.send(piece);
  expect(client.sent.sort()).toEqual([...row.want].sort());
  const isOver = row.want.some((line) => line.startsWith("goaway"));
  expect([client.socket.destroyed, client.ended]).toEqual([isOver, isOver]);
  if (row.fields !== undefined) expect(client.streams.at(-1)?.fields).toMatchObject(row.fields);
}

for (const { rfc, rows } of specifications)
  describe.each(Object.entries(rows))(`${rfc}, %s`, (_, own) => {
    it.each(own)("$name", (row) => check(row, (bytes) => [bytes]));
    const short = own.filter(
      ({ given, afterwards }) => concat(given).length + concat(afterwards).length < MAX_BYTES_ONE_BY_ONE,
    );
    if (short.length > 0)
      it.each(short)("$name, byte by byte", (row) =>
        check(row, (bytes) => Array.from(bytes, (byte) => Buffer.from([byte]))),
      );
  });

describe("the table", () => {
  it.each(specifications)("covers every section of $rfc, by a test or a reason", ({ sections, rows }) => {
    const uncovered = sections.filter(
      ({ section, tests, why }) => rows[section] === undefined && tests === undefined && why === undefined,
    );
    expect(uncovered).toEqual([]);
    const unlisted = Object.keys(rows).filter((section) => !sections.some((each) => each.section === section));
    expect(unlisted).toEqual([]);
  });

  it.each(specifications)("names tests of $rfc that exist, each once", ({ sections, rows }) => {
    const missing = sections
      .flatMap(({ tests = [] }) => tests)
      .filter(([file, test]) => !sourceOf(file).includes(`"${test}"`));
    expect(missing).toEqual([]);
    for (const [section, own] of Object.entries(rows))
      expect([section, new Set(own.map(({ name }) => name)).size]).toEqual([section, own.length]);
  });

  it("has every case of h2spec", () => {
    const cases = Object.entries(h2specCases).flatMap(([group, count]) =>
      Array.from({ length: count }, (_, i) => `${group}/${i + 1}`),
    );
    const covered = specifications.flatMap(({ rows }) =>
      Object.values(rows)
        .flat()
        .flatMap(({ h2spec = [] }) => h2spec),
    );
    expect(cases.filter((each) => !covered.includes(each))).toEqual([]);
    expect(covered.filter((each) => !cases.includes(each))).toEqual([]);
  });

  it("is docs/http2-conformance.md", async () => {
    await expect(conformanceDocument(specifications)).toMatchFileSnapshot("../../../docs/http2-conformance.md");
  });
});

function sourceOf(file: string): string {
  return readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
}
