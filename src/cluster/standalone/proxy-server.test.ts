/** What kube-proxy serves to everybody who can reach it. */
import { connect } from "node:net";
import { expect, it } from "vitest";
import { realClock, silentLogger } from "#base";
import { type ProxyServed, serveProxy } from "./proxy-server.ts";

it("answers every target, also what is no URL, and goes on", async () => {
  const ports: number[] = [];
  const listening = Promise.withResolvers<number>();
  const log = {
    ...silentLogger,
    info: (_: string, fields?: Readonly<Record<string, unknown>>) => {
      ports.push(Number(fields?.port));
      listening.resolve(Number(fields?.port));
    },
  };
  const served: ProxyServed = {
    pages: { health: async () => undefined, page: () => undefined } as unknown as ProxyServed["pages"],
    mode: "nftables",
    health: () => ({ isHealthy: true, lastUpdatedMs: undefined }),
    clock: realClock(),
    log,
  };
  const running = new AbortController();
  const ended = serveProxy({ health: { host: "127.0.0.1", port: 0 } }, served, running.signal);
  const port = await listening.promise;
  const ask = async (target: string) => {
    const socket = connect(port, "127.0.0.1");
    socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    return (await Array.fromAsync(socket.setEncoding("utf8"))).join("").split("\r\n", 1)[0];
  };
  for (const target of ["//", "http://[", "/%", "*", "//[/", "/healthz/../x"])
    expect(await ask(target), target).toMatch(/^HTTP\/1.1 40[04] /);
  expect(await ask("/healthz")).toBe("HTTP/1.1 200 OK");
  running.abort();
  await ended;
});
