import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Refusal } from "../exchange.ts";
import { nodeLogs } from "./node-logs.ts";

describe("the logs of a node", () => {
  let root: string;
  beforeAll(() => {
    const base = mkdtempSync(join(tmpdir(), "k8ts-logs-"));
    root = join(base, "log");
    mkdirSync(join(root, "pods"), { recursive: true });
    writeFileSync(join(base, "secret"), "no log");
    writeFileSync(join(root, "kubelet.log"), "started\n");
    writeFileSync(join(root, "a<b:c"), "");
    writeFileSync(join(root, "pods", "old.log.gz"), "packed");
  });
  afterAll(() => rmSync(join(root, ".."), { recursive: true }));

  async function get(path: string, method = "GET"): Promise<string> {
    try {
      const { status, headers = {}, body } = await nodeLogs(root, { path, method });
      const shown = typeof body === "string" || Buffer.isBuffer(body) ? String(body) : await text(body);
      return [status, headers.location ?? headers["content-type"], shown].join(" ");
    } catch (error) {
      if (error instanceof Refusal) return `${error.answer.status} ${String(error.answer.body)}`;
      throw error;
    }
  }

  const page = (...links: string[]) =>
    `200 text/html; charset=utf-8 <!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${links.map((each) => `${each}\n`).join("")}</pre>\n`;

  it.each([
    { path: "/logs", want: "301 /logs/ " },
    {
      path: "/logs/",
      want: page(
        '<a href="./a%3Cb%3Ac">a&lt;b:c</a>',
        '<a href="kubelet.log">kubelet.log</a>',
        '<a href="pods/">pods/</a>',
      ),
    },
    { path: "/logs/pods", want: "301 pods/ " },
    { path: "/logs/pods/", want: page('<a href="old.log.gz">old.log.gz</a>') },
    { path: "/logs/kubelet.log", want: "200 text/plain; charset=utf-8 started\n" },
    { path: "/logs/kubelet.log", method: "HEAD", want: "200 text/plain; charset=utf-8 " },
    { path: "/logs/kubelet.log/", want: "301 ../kubelet.log " },
    { path: "/logs/a%3Cb:c", want: "200 text/plain; charset=utf-8 " },
    { path: "/logs/pods/old.log.gz", want: "200 application/gzip packed" },
    { path: "/logs/none", want: "404 404 page not found\n" },
    { path: "/logs/..%2Fsecret", want: "400 invalid URL path\n" },
  ])("$method $path", async ({ path, method, want }) => {
    expect(await get(path, method)).toBe(want);
  });
});
