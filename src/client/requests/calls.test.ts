import { describe, expect, it } from "vitest";
import { StatusError, toStatus } from "#api";
import { VirtualClock } from "#base";
import type { Transport, TransportRequest } from "../transport/transport.ts";
import { Calls } from "./calls.ts";

interface Scripted {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly text?: string;
}

/** Answers in the order given; the last one for good. */
function scripted(answers: readonly Scripted[]): Transport & { readonly requests: TransportRequest[] } {
  const requests: TransportRequest[] = [];
  return {
    requests,
    send: async (request) => {
      const {
        status,
        headers = {},
        text = "{}",
      } = answers[Math.min(requests.length, answers.length - 1)] ?? { status: 200 };
      requests.push(request);
      async function* body() {
        yield Buffer.from(text);
      }
      return { status, headers, body: body() };
    },
    close: async () => {},
  };
}

/** Never answers. */
const silent: Transport = {
  send: ({ ending }) => new Promise((_, reject) => ending.whenAborted(() => reject(ending.reason))),
  close: async () => {},
};

function callsTo(transport: Transport, timeoutMs = 60_000) {
  const clock = new VirtualClock();
  return { clock, calls: new Calls({ transport, clock, userAgent: "test", timeoutMs }) };
}

const GET = { method: "GET", target: "/x" };

describe("repetitions", () => {
  it.each([
    {
      name: "429 with Retry-After",
      answers: [{ status: 429, headers: { "retry-after": "2" } }, { status: 200 }],
      sent: 2,
      waitedMs: 2000,
    },
    {
      name: "503 with Retry-After",
      answers: [{ status: 503, headers: { "retry-after": "1" } }, { status: 200 }],
      sent: 2,
      waitedMs: 1000,
    },
    { name: "429 without", answers: [{ status: 429 }], sent: 1, waitedMs: 0, code: 429 },
    {
      name: "500 with Retry-After",
      answers: [{ status: 500, headers: { "retry-after": "1" } }],
      sent: 1,
      waitedMs: 0,
      code: 500,
    },
    {
      name: "a wait that is too long",
      answers: [{ status: 429, headers: { "retry-after": "3600" } }],
      sent: 1,
      waitedMs: 0,
      code: 429,
    },
    {
      name: "again and again",
      answers: [{ status: 429, headers: { "retry-after": "1" } }],
      sent: 5,
      waitedMs: 4000,
      code: 429,
    },
  ])("$name: sent $sent times", async ({ answers, sent, waitedMs, code }) => {
    const transport = scripted(answers);
    const { clock, calls } = callsTo(transport);
    const start = clock.monotonic();
    const result = calls.text(GET).then(
      () => undefined,
      (error: StatusError) => error.code,
    );
    await clock.advance(10_000);
    expect(await result).toBe(code);
    expect(transport.requests).toHaveLength(sent);
    expect(clock.monotonic() - start).toBeGreaterThanOrEqual(waitedMs);
  });
});

describe("deadlines", () => {
  it("a call without an answer ends as Timeout", async () => {
    const { clock, calls } = callsTo(silent, 5000);
    const failed = expect(calls.text(GET)).rejects.toMatchObject({ reason: "Timeout" });
    await clock.advance(5000);
    await failed;
  });

  it("repetitions count", async () => {
    const transport = scripted([{ status: 429, headers: { "retry-after": "4" } }]);
    const { clock, calls } = callsTo(transport, 5000);
    const failed = expect(calls.text(GET)).rejects.toMatchObject({ reason: "Timeout" });
    await clock.advance(20_000);
    await failed;
    expect(transport.requests).toHaveLength(2);
  });

  it("the caller's abort throws the caller's reason", async () => {
    const { calls } = callsTo(silent);
    const abort = new AbortController();
    const failed = expect(calls.text({ ...GET, signal: abort.signal })).rejects.toBe("enough");
    abort.abort("enough");
    await failed;
  });
});

describe("failures", () => {
  it("a Status becomes the error that it stands for", async () => {
    const text = JSON.stringify(
      toStatus(new StatusError("NotFound", 'pods "x" not found', { details: { name: "x", kind: "pods" } })),
    );
    const { calls } = callsTo(scripted([{ status: 404, text }]));
    await expect(calls.json(GET)).rejects.toMatchObject({
      reason: "NotFound",
      code: 404,
      details: { name: "x", kind: "pods" },
    });
  });

  it("anything else is told as it is", async () => {
    const { calls } = callsTo(scripted([{ status: 502, text: "bad gateway" }]));
    await expect(calls.json(GET)).rejects.toMatchObject({
      code: 502,
      message: "GET /x was answered with 502: bad gateway",
    });
  });

  it("a path that is not served is not found, though the answer is no Status", async () => {
    const { calls } = callsTo(scripted([{ status: 404, text: "404 page not found" }]));
    await expect(calls.json(GET)).rejects.toMatchObject({ reason: "NotFound", code: 404 });
  });
});
