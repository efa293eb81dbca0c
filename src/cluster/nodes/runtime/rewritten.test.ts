import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { silentLogger } from "#base";
import { openPullProxy } from "./pull-proxy.ts";
import { rewrittenTarget } from "./rewritten.ts";

const endpoint = (url: string) => ({
  url: new URL(url),
  rewrites: [{ pattern: "^library/(.*)", replacement: "hub/$1" }],
});

describe("an endpoint with rewrites", () => {
  const endpoints = new Map([
    ["docker.io/0", endpoint("https://m.example/")],
    ["docker.io/1", endpoint("https://m.example/base/v2/")],
  ]);
  it.each<[string, string | undefined]>([
    ["/rewrite/s/docker.io/0/v2/", "/v2/"],
    ["/rewrite/s/docker.io/0/v2/library/a/manifests/1?ns=docker.io", "/v2/hub/a/manifests/1?ns=docker.io"],
    ["/rewrite/s/docker.io/0/v2/library/a/blobs/sha256:1", "/v2/hub/a/blobs/sha256:1"],
    ["/rewrite/s/docker.io/0/v2/other/a/manifests/1", "/v2/other/a/manifests/1"],
    ["/rewrite/s/docker.io/1/v2/library/a/manifests/1", "/base/v2/hub/a/manifests/1"],
    ["/rewrite/wrong/docker.io/0/v2/", undefined],
    ["/rewrite/s/docker.io/9/v2/", undefined],
    ["/rewrite/s/docker.io/0/admin", undefined],
  ])("%s", (url, want) => expect(rewrittenTarget(url, "s", endpoints)?.path).toBe(want));

  it("is asked by the proxy, with the client's credentials; not in a closed cluster", async () => {
    let seen: IncomingHttpHeaders = {};
    const server = createServer(({ url, headers }, response) => {
      seen = headers;
      response.writeHead(401, { "www-authenticate": 'Basic realm="m"' }).end(url);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const rewrites = () => new Map([["docker.io/0", endpoint(`http://127.0.0.1:${port}`)]]);
    const ask = async (allowed: boolean) => {
      const rules = { secret: "s", allowed, rewrites, named: async () => [], log: silentLogger };
      const proxy = await openPullProxy({ host: "127.0.0.1", port: 0, ...rules });
      const path = "/rewrite/s/docker.io/0/v2/library/a/manifests/1";
      const headers = { authorization: "Basic x" };
      const sent = request({ host: "127.0.0.1", port: proxy.port, path, headers, agent: false }).end();
      const [answer] = await once(sent, "response");
      const found = {
        status: answer.statusCode,
        challenge: answer.headers["www-authenticate"],
        body: await text(answer),
      };
      await proxy.close();
      return found;
    };
    expect(await ask(true)).toEqual({ status: 401, challenge: 'Basic realm="m"', body: "/v2/hub/a/manifests/1" });
    expect(seen).toMatchObject({ authorization: "Basic x", host: `127.0.0.1:${port}` });
    expect(await ask(false)).toMatchObject({ status: 403 });
    server.close();
  });
});
