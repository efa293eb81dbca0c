import { describe, expect, it } from "vitest";
import { settled, VirtualClock } from "#base";
import { SchedulingAnswers, SchedulingReasons } from "./scheduling-reasons.ts";

type Request = Parameters<SchedulingAnswers["answer"]>[0];

function start() {
  const answers = new SchedulingAnswers(new SchedulingReasons(), new VirtualClock());
  const send = (method: string, body = "") =>
    answers.answer({
      method,
      path: "/k8ts/scheduling",
      query: new URLSearchParams({ uid: "a" }),
      headers: {},
      body: async () => Buffer.from(body),
      signal: new AbortController().signal,
    } satisfies Request);
  return { answers, send };
}

/** What a scheduler that comes is told. */
async function heard(response: Awaited<ReturnType<ReturnType<typeof start>["send"]>>): Promise<string> {
  if (!("stream" in response)) throw new Error("a scheduler waits for what is asked");
  let text = "";
  const write = (bytes: Buffer) => {
    text += bytes;
    return 0;
  };
  await response.stream({ write, drop: () => {}, signal: new AbortController().signal });
  return text;
}

describe("why Pods are where they are", () => {
  it("is asked of the scheduler that comes for questions", async () => {
    const { send } = start();
    const listening = send("POST", "[]").then(heard);
    await settled();
    const asked = send("GET");
    expect(await listening).toBe('["a"]');
    await send("POST", JSON.stringify([{ uid: "a", attempts: [{ attempt: 1 }] }]));
    const answer = await asked;
    expect("body" in answer && answer.body.join("")).toBe('[{"attempt":1}]');
  });

  it("is nothing where no scheduler is", async () => {
    const answer = await start().send("GET");
    expect("body" in answer && answer.body.join("")).toBe("[]");
  });

  it.each([
    ["what is no JSON", "POST", "{", "expected a list of answers"],
    ["what is no list", "POST", "{}", "expected a list of answers"],
    ["answers without attempts", "POST", '[{"uid":"a"}]', "expected a list of answers"],
    ["other verbs", "DELETE", "", "the server does not allow this method on the requested resource"],
  ])("takes not %s", async (_, method, body, message) => {
    await expect(start().send(method, body)).rejects.toThrow(message);
  });

  it("lets go of who waits when it ends", async () => {
    const { answers, send } = start();
    const listening = send("POST", "[]").then(heard);
    answers[Symbol.dispose]();
    expect(await listening).toBe("[]");
  });
});
