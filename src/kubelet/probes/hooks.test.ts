import { expect, it } from "vitest";
import type { core } from "#api";
import { VirtualClock } from "#base";
import { lifecycleHooks } from "./hooks.ts";

const { signal } = new AbortController();
const container = { name: "app", ports: [{ name: "web", containerPort: 8080 }] };

function hooks() {
  const clock = new VirtualClock();
  const asked: unknown[] = [];
  const network = {
    httpGet: async (question: object) => {
      asked.push(question);
      return { status: 200, body: "" };
    },
    tcpConnect: async () => {},
    grpcHealth: async () => 1,
  };
  const runtime = { execSync: async () => ({ exitCode: 0, stdout: new Uint8Array(), stderr: new Uint8Array() }) };
  const all = lifecycleHooks({ runtime, network, clock });
  const run = (handler: core.LifecycleHandler) =>
    all.run({ handler, containerId: "c1", container, podIp: "10.0.0.1" }, signal);
  return { clock, asked, run };
}

it("a request goes to the Pod, at the port of that name", async () => {
  const { asked, run } = hooks();
  await run({ httpGet: { path: "/bye", port: "web" } });
  expect(asked).toMatchObject([{ host: "10.0.0.1", port: 8080, path: "/bye" }]);
});

it("a sleep takes its time", async () => {
  const { clock, run } = hooks();
  let isOver = false;
  const hook = run({ sleep: { seconds: 5 } }).then(() => {
    isOver = true;
  });
  await clock.advance(4_999);
  expect(isOver).toBe(false);
  await clock.advance(1);
  await hook;
});

it("a TCP hook is none, and does not pass for one that succeeded", async () => {
  await expect(hooks().run({ tcpSocket: { port: 80 } })).rejects.toThrow("invalid handler");
});
