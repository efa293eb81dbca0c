/** Who is asked, how often, and what becomes of their answers. */
import { encode } from "dns-packet";
import { describe, expect, it } from "vitest";
import { seededRandom, silentLogger, VirtualClock } from "#base";
import { Forwarder } from "./forward.ts";
import { readQuestion } from "./question.ts";
import type { UpstreamAddress } from "./upstream.ts";

const [FIRST, SECOND] = [
  { host: "192.0.2.1", port: 53 },
  { host: "192.0.2.2", port: 53 },
];

function questionOf(name: string) {
  const reading = readQuestion(encode({ type: "query", id: 7, flags: 256, questions: [{ name, type: "A" }] }));
  if (!reading.ok) throw new Error("it is a question");
  return reading.question;
}

/** `answers`: whether a server answers. */
function forwarder(answers: (server: UpstreamAddress) => boolean) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const ask = async (server: UpstreamAddress, message: Buffer, signal: AbortSignal): Promise<Buffer> => {
    asked.push(server.host);
    if (!answers(server)) await clock.sleep(3_600_000, signal);
    const reading = readQuestion(message);
    const name = reading.ok ? reading.question.name : "";
    const answer = { type: "A", name, ttl: 60, data: "192.0.2.7" } as const;
    return encode({
      type: "response",
      id: message.readUInt16BE(0),
      questions: [{ name, type: "A" }],
      answers: [answer],
    });
  };
  const made = new Forwarder({ upstreams: [FIRST, SECOND], clock, random: seededRandom(1), log: silentLogger, ask });
  const forward = async (name: string) => {
    const answer = made.forward(questionOf(name));
    await clock.advance(5000);
    return answer;
  };
  return { clock, asked, forward, made };
}

describe("upstream servers", () => {
  it("that do not answer are asked last for a while", async () => {
    let isFirstThere = false;
    const { clock, asked, forward } = forwarder((server) => server === SECOND || isFirstThere);
    for (const name of ["a.org", "b.org"]) expect(await forward(name)).toHaveProperty("bytes");
    expect(asked).toEqual(["192.0.2.1", "192.0.2.2", "192.0.2.2"]);
    isFirstThere = true;
    await clock.advance(10_000);
    await forward("c.org");
    expect(asked.slice(3)).toEqual(["192.0.2.1"]);
  });

  it("of which none answers: those who asked hear of it", async () => {
    const { forward } = forwarder(() => false);
    expect(await forward("a.org")).toMatchObject({ answer: { code: 2 } });
  });

  it("are asked once by many, and not again while the answer lives", async () => {
    const { clock, asked, made } = forwarder(() => true);
    const all = await Promise.all(Array.from({ length: 10 }, () => made.forward(questionOf("a.org"))));
    expect(asked).toHaveLength(1);
    expect(all.every((each) => "bytes" in each && each.bytes.readUInt16BE(0) === 7)).toBe(true);
    await clock.advance(59_000);
    await made.forward(questionOf("A.org"));
    expect(asked).toHaveLength(1);
    await clock.advance(2000);
    await made.forward(questionOf("a.org"));
    expect(asked).toHaveLength(2);
  });
});
