import { describe, expect, it } from "vitest";
import { contextOf, headersOf, readTraceparent } from "./trace-context.ts";

const [T, S] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
const sampled = { traceId: T, spanId: S, sampled: true };

describe("traceparent (the cases of W3C Trace Context)", () => {
  it.each([
    { text: `00-${T}-${S}-01`, want: sampled },
    { text: `00-${T}-${S}-00`, want: { ...sampled, sampled: false } },
    { text: `00-${T}-${S}-03`, want: sampled },
    { text: ` 00-${T}-${S}-01 `, want: sampled },
    { text: `cc-${T}-${S}-01-what-the-future-adds`, want: sampled },
    { text: `cc-${T}-${S}-01`, want: sampled },
    { text: `00-${T}-${S}-01-more`, want: undefined },
    { text: `cc-${T}-${S}-01.more`, want: undefined },
    { text: `ff-${T}-${S}-01`, want: undefined },
    { text: `00-${"0".repeat(32)}-${S}-01`, want: undefined },
    { text: `00-${T}-${"0".repeat(16)}-01`, want: undefined },
    { text: `00-${T.toUpperCase()}-${S}-01`, want: undefined },
    { text: `00-${T}-${S}-1`, want: undefined },
    { text: `00-${T.slice(1)}-${S}-01`, want: undefined },
    { text: "", want: undefined },
  ])("$text", ({ text, want }) => {
    expect(readTraceparent(text)).toEqual(want);
  });

  it("is sent as it was read, with its tracestate", () => {
    const headers = { traceparent: `00-${T}-${S}-01`, tracestate: "vendor=1" };
    const context = contextOf(headers);
    expect(context && headersOf(context)).toEqual(headers);
  });

  it("counts without a tracestate that is too long, and a tracestate counts for nothing without it", () => {
    expect(contextOf({ traceparent: `00-${T}-${S}-01`, tracestate: "a".repeat(513) })).toEqual(sampled);
    expect(contextOf({ tracestate: "vendor=1" })).toBeUndefined();
  });
});
