import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import type { WebSocket } from "ws";
import type { SpdyServer } from "../testing/spdy-server.ts";
import { TestKubeletServer, type TestServerOptions, WEB } from "../testing/test-kubelet-server.ts";
import { SpdyClient } from "./spdy-client.ts";

const SUCCESS = JSON.stringify({ metadata: {}, status: "Success" });
const FAILURE = JSON.stringify({ metadata: {}, status: "Failure", message: "command terminated with exit code 7" });

let server: TestKubeletServer | undefined;
afterEach(() => server?.[Symbol.asyncDispose]());

async function start(play: (spdy: SpdyServer) => void, more: TestServerOptions = {}): Promise<TestKubeletServer> {
  server = await new TestKubeletServer({ pod: WEB, play, ...more }).start();
  return server;
}

/** `cat`: what comes in goes out, and its end is the end. */
function cat(streams: number): (spdy: SpdyServer) => void {
  let isOver = false;
  return (spdy) => {
    const stdin = spdy.stream("stdin");
    if (isOver || spdy.streams.length < streams || stdin?.isEnded !== true) return;
    isOver = true;
    spdy.stream("stdout")?.write(stdin.received);
    spdy.stream("error")?.write(SUCCESS);
    spdy.close();
  };
}

/** A frame that says it is a reset and does not say of what. */
const SHORT_FRAME = Buffer.from([0x80, 3, 0, 3, 0, 0, 0, 0]);

/** A command that writes to both outputs and fails. */
function failing(streams: number): (spdy: SpdyServer) => void {
  let isOver = false;
  return (spdy) => {
    if (isOver || spdy.streams.length < streams) return;
    isOver = true;
    spdy.stream("stdout")?.write("out");
    spdy.stream("stderr")?.write("err");
    spdy.stream("error")?.write(FAILURE);
    spdy.close();
  };
}

/** All messages, in the form `channel:text`; empty ones are left out. */
async function messages(socket: WebSocket): Promise<readonly string[]> {
  const found: string[] = [];
  socket.on("message", (data: Buffer) => {
    if (data.length > 1) found.push(`${data[0]}:${data.subarray(1)}`);
  });
  const [code] = await once(socket, "close");
  expect(code).toBe(1000);
  return found;
}

describe("exec over WebSockets", () => {
  const path = "/exec/default/web/main?command=cat";

  it("v5: a closed stdin ends the command, and nothing else", async () => {
    const kubelet = await start(cat(3));
    const socket = kubelet.webSocket(`${path}&input=1&output=1`, ["v5.channel.k8s.io", "v4.channel.k8s.io"]);
    const got = messages(socket);
    await once(socket, "open");
    expect(socket.protocol).toBe("v5.channel.k8s.io");
    socket.send(Buffer.from("\0hel"));
    socket.send(Buffer.from("\0lo"));
    socket.send(Buffer.from([255, 0]));
    expect(await got).toEqual(["1:hello", `3:${SUCCESS}`]);
    expect(kubelet.asked.at(-1)).toBe("POST /exec SPDY/3.1 v4.channel.k8s.io");
  });

  it.each([
    { protocol: "v5.channel.k8s.io", want: ["1:out", "2:err", `3:${FAILURE}`] },
    { protocol: "v4.channel.k8s.io", want: ["1:out", "2:err", `3:${FAILURE}`] },
    { protocol: "channel.k8s.io", want: ["1:out", "2:err", "3:command terminated with exit code 7"] },
    {
      protocol: "v4.base64.channel.k8s.io",
      want: ["49:b3V0", "50:ZXJy", `51:${Buffer.from(FAILURE).toString("base64")}`],
    },
  ])("$protocol: both outputs and the outcome", async ({ protocol, want }) => {
    const kubelet = await start(failing(3));
    const socket = kubelet.webSocket(`${path}&output=1&error=1`, [protocol]);
    expect(await messages(socket)).toEqual(want);
  });

  it.each(["null", "7", "[]", '{"status":5,"message":{}}', "no outcome at all"])(
    "an outcome of the runtime that is no Status is shown as it is: %s",
    async (text) => {
      const kubelet = await start((spdy) => {
        if (spdy.streams.length < 2) return;
        spdy.stream("error")?.write(text);
        spdy.close();
      });
      const socket = kubelet.webSocket(`${path}&output=1`, ["channel.k8s.io"]);
      expect(await messages(socket)).toEqual([`3:${text}`]);
    },
  );

  it.each([
    { protocol: "v5.channel.k8s.io", asked: "output=1&error=1", want: [`3:${SUCCESS}`] },
    { protocol: "v4.channel.k8s.io", asked: "output=1&error=1", want: ["1:", `3:${SUCCESS}`] },
    { protocol: "v4.channel.k8s.io", asked: "error=1", want: ["2:", `3:${SUCCESS}`] },
    { protocol: "v4.channel.k8s.io", asked: "input=1", want: ["3:", `3:${SUCCESS}`] },
  ])("$protocol with $asked: nothing comes on streams that nobody asked for", async ({ protocol, asked, want }) => {
    const count = asked.split("&").length + 1;
    const kubelet = await start((spdy) => {
      if (spdy.streams.length < count) return;
      spdy.stream("error")?.write(SUCCESS);
      spdy.close();
    });
    const socket = kubelet.webSocket(`${path}&${asked}`, [protocol]);
    const got: string[] = [];
    socket.on("message", (bytes: Buffer) => got.push(`${bytes[0]}:${bytes.subarray(1)}`));
    await once(socket, "close");
    expect(got).toEqual(want);
  });

  it("a terminal has its size, and one output", async () => {
    const sizes = Promise.withResolvers<string>();
    const kubelet = await start((spdy) => {
      const size = spdy.stream("resize")?.received ?? "";
      if (!size.endsWith("}")) return;
      sizes.resolve(`${spdy.streams.map(({ headers }) => headers.streamtype).join()} ${size}`);
      spdy.stream("error")?.write(SUCCESS);
      spdy.close();
    });
    const socket = kubelet.webSocket(`${path}&input=1&output=1&error=1&tty=1`, ["v5.channel.k8s.io"]);
    const got = messages(socket);
    await once(socket, "open");
    socket.send(Buffer.from(`\x04{"Width":80,"Height":24}`));
    expect(await sizes.promise).toBe('error,stdin,stdout,resize {"Width":80,"Height":24}');
    expect(await got).toEqual([`3:${SUCCESS}`]);
  });

  it("a runtime that leaves without an outcome is a failure", async () => {
    const kubelet = await start((spdy) => spdy.streams.length === 2 && spdy.close());
    const socket = kubelet.webSocket(`${path}&output=1`, ["v5.channel.k8s.io"]);
    expect(await messages(socket)).toEqual([
      expect.stringContaining("the connection to the container runtime was lost"),
    ]);
  });

  it("so is one that speaks no proper SPDY, or no proper Status", async () => {
    let kubelet = await start((spdy) => spdy.streams.length === 2 && spdy.raw(SHORT_FRAME));
    expect(await messages(kubelet.webSocket(`${path}&output=1`, ["v5.channel.k8s.io"]))).toHaveLength(1);
    await kubelet[Symbol.asyncDispose]();
    kubelet = await start((spdy) => {
      if (spdy.streams.length !== 2) return;
      spdy.stream("error")?.write("a sentence");
      spdy.close();
    });
    expect(await messages(kubelet.webSocket(`${path}&output=1`, ["channel.k8s.io"]))).toEqual(["3:a sentence"]);
  });

  it("more than a megabyte arrives whole", async () => {
    const text = "0123456789abcdef".repeat(200_000);
    let isOver = false;
    const kubelet = await start((spdy) => {
      if (isOver || spdy.streams.length < 2) return;
      isOver = true;
      for (let at = 0; at < text.length; at += 50_000) spdy.stream("stdout")?.write(text.slice(at, at + 50_000));
      spdy.stream("error")?.write(SUCCESS);
      spdy.close();
    });
    const got = await messages(kubelet.webSocket(`${path}&output=1`, ["v5.channel.k8s.io"]));
    expect(got.at(-1)).toBe(`3:${SUCCESS}`);
    expect(
      got
        .slice(0, -1)
        .map((each) => each.slice(2))
        .join(""),
    ).toBe(text);
  });

  it("a caller that leaves ends the stream to the runtime", async () => {
    const [opened, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const kubelet = await start((spdy) => {
      if (spdy.streams.length < 3) return;
      opened.resolve();
      void spdy.closed.then(left.resolve);
    });
    const socket = kubelet.webSocket(`${path}&input=1&output=1`, ["v5.channel.k8s.io"]);
    await Promise.all([once(socket, "open"), opened.promise]);
    socket.terminate();
    await left.promise;
  });

  it.each([
    { ask: "/exec/default/none/main?output=1", want: 404 },
    { ask: "/exec/default/web/none?output=1", want: 404 },
    { ask: "/exec/default/web/main", want: 400 },
    { ask: "/exec/default/web/main?output=1&command=broken", want: 500 },
    { ask: "/exec/default/web/main?output=1", protocol: "v9.channel.k8s.io", want: 403 },
    { ask: "/nothing", want: 404 },
  ])("$ask is refused with $want", async ({ ask, protocol = "v5.channel.k8s.io", want }) => {
    const kubelet = await start(() => {});
    const socket = kubelet.webSocket(ask, [protocol]);
    const [, response] = await once(socket, "unexpected-response");
    expect(response.statusCode).toBe(want);
    socket.on("error", () => {});
    socket.terminate();
  });
});

it("a log over a WebSocket, message by message", async () => {
  const dir = mkdtempSync(join(tmpdir(), "k8ts-log-messages-"));
  const logPath = join(dir, "0.log");
  writeFileSync(logPath, "2026-01-01T00:00:00Z stdout F hello\n");
  const kubelet = await start(() => {}, { container: { logPath, state: "exited" } });
  for (const [protocol, want] of [
    ["binary.k8s.io", "hello\n"],
    ["base64.binary.k8s.io", Buffer.from("hello\n").toString("base64")],
  ] as const) {
    const socket = kubelet.webSocket("/containerLogs/default/web/main", [protocol]);
    const [message] = await once(socket, "message");
    expect(String(message)).toBe(want);
    await once(socket, "close");
  }
  rmSync(dir, { recursive: true, force: true });
});

it("the server's end is the end of what is under way", async () => {
  const [opened, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const kubelet = await start((spdy) => {
    if (spdy.streams.length < 3) return;
    opened.resolve();
    void spdy.closed.then(left.resolve);
  });
  const socket = kubelet.webSocket("/exec/default/web/main?command=cat&input=1&output=1", ["v5.channel.k8s.io"]);
  await Promise.all([once(socket, "open"), opened.promise]);
  const closed = once(socket, "close");
  await kubelet.stop();
  await Promise.all([left.promise, closed]);
});

describe("SPDY", () => {
  it("exec is passed on to the runtime as it is", async () => {
    const kubelet = await start(cat(3));
    const protocols = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
    const path = "/exec/default/web/main?command=cat&input=1&output=1";
    const connection = await kubelet.upgrade(path, { "x-stream-protocol-version": protocols });
    const client = new SpdyClient(connection);
    const got: string[] = [];
    const note = (name: string) => ({ data: (bytes: Buffer) => void got.push(`${name}:${bytes}`) });
    client.open({ streamtype: "error" }, note("error"));
    const stdin = client.open({ streamtype: "stdin" }, {});
    client.open({ streamtype: "stdout" }, note("stdout"));
    stdin.write(Buffer.from("hello"));
    stdin.end();
    await client.closed;
    expect(got).toEqual(["stdout:hello", `error:${SUCCESS}`]);
    expect(kubelet.asked.at(-1)).toBe("POST /exec SPDY/3.1 v5.channel.k8s.io, v4.channel.k8s.io");
  });
});

describe("port-forward", () => {
  /** Says what it was asked, on the stream of data. */
  const echo = (spdy: SpdyServer) => {
    const data = spdy.stream("data");
    if (data?.received !== "ping") return;
    data.write(`pong ${data.headers.port}`);
    spdy.close();
  };

  it("SPDY inside of a WebSocket, as kubectl speaks it", async () => {
    const kubelet = await start(echo);
    const socket = await kubelet.upgrade("/portForward/default/web", {
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-protocol": "SPDY/3.1+portforward.k8s.io",
    });
    const client = new SpdyClient(inMessages(socket));
    const about = { port: "8080", requestid: "0" };
    client.open({ streamtype: "error", ...about }, {}).end();
    const got: string[] = [];
    const data = client.open({ streamtype: "data", ...about }, { data: (bytes) => void got.push(String(bytes)) });
    data.write(Buffer.from("ping"));
    await client.closed;
    expect(got).toEqual(["pong 8080"]);
  });

  it("two channels for each port", async () => {
    const kubelet = await start(echo);
    const socket = kubelet.webSocket("/portForward/default/web?port=8080", ["v4.channel.k8s.io"]);
    const got = messages(socket);
    await once(socket, "open");
    socket.send(Buffer.from("\0ping"));
    expect(await got).toEqual(["0:\x90\x1f", "1:\x90\x1f", "0:pong 8080"].map(replaced));
  });
});

/**
 * The inside of a WebSocket as its client sees it: the library refuses the name of this protocol, which is no token of
 * HTTP.
 */
function inMessages(socket: Duplex): Duplex {
  let pending = Buffer.alloc(0);
  const inside = new Duplex({
    read: () => {},
    write(bytes: Buffer, _, done) {
      const head = Buffer.alloc(8);
      head.writeUInt8(0x82, 0);
      head.writeUInt8(0x80 | 126, 1);
      head.writeUInt16BE(bytes.length, 2);
      // Masked with zeros: as it is.
      socket.write(Buffer.concat([head, bytes]), () => done());
    },
  });
  socket.on("data", (bytes: Buffer) => {
    pending = Buffer.concat([pending, bytes]);
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt8(1)) {
      const [opcode, length] = [pending.readUInt8(0) & 0x0f, pending.readUInt8(1)];
      inside.push(opcode === 8 ? null : pending.subarray(2, 2 + length));
      pending = pending.subarray(2 + length);
    }
  });
  return inside;
}

/** As a number of a port looks when it is read as text. */
function replaced(text: string): string {
  return text.replace("\x90", "\ufffd");
}
